import pino from 'pino';
import type { Logger } from 'pino';

export type { Logger } from 'pino';

/**
 * Writes JSON lines to stdout, or readable lines to a terminal. A line is a constant message plus fields: ids, sizes
 * and codes, never the content of an event. A line is written before the call returns: none is lost at an exit, and a
 * process whose stdout has no reader can end (pino repeats later writes to a closed pipe forever).
 */
export function createLogger(component: string, level: string): Logger {
  const options = { base: { component }, level, timestamp: pino.stdTimeFunctions.isoTime };
  if (!process.stdout.isTTY) return pino(options, pino.destination({ dest: 1, sync: true }));
  return pino({
    ...options,
    transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss.l' } },
  });
}
