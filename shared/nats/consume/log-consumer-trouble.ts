import type { Logger } from '../../runtime/logger.ts';
import type { CursorTrouble } from './pull-consumer.ts';

/**
 * From here on it is an error, in ms. A consumer has no leader for some seconds while it is just being made on a cluster,
 * and whenever a server of it restarts: then the cursor waits, and nobody has to do anything.
 */
const calmMs = 15_000;
const errorEveryMs = 60_000;

/**
 * Writes what a cursor met to the log: a warning when trouble begins, an error when it lasts, and again each minute that
 * it does. `fields` say whose cursor it is.
 */
export function logCursorTrouble(
  logger: Pick<Logger, 'warn' | 'error' | 'debug'>,
  fields: Readonly<Record<string, unknown>>,
): (trouble: CursorTrouble) => void {
  let nextErrorMs = calmMs;
  return (trouble) => {
    if (trouble.kind === 'made-anew') {
      logger.warn(fields, 'cursor: its consumer was gone, it is made anew');
      return;
    }
    if (trouble.kind === 'missed') {
      logger.warn(fields, 'cursor: messages were sent that did not come here, asking for them again');
      return;
    }
    const { kind, lastsMs } = trouble;
    const about = {
      ...fields,
      lastsMs: Math.round(lastsMs),
      ...(kind === 'failed' ? { err: trouble.error } : { reason: trouble.reason }),
    };
    if (lastsMs === 0) nextErrorMs = calmMs;
    if (lastsMs >= nextErrorMs) {
      nextErrorMs = lastsMs + errorEveryMs;
      logger.error(about, 'cursor: still no messages from its consumer');
      return;
    }
    const level = lastsMs === 0 ? 'warn' : 'debug';
    if (kind === 'failed') logger[level](about, 'cursor: asking the log failed, trying again');
    else logger[level](about, 'cursor: nobody answers for its consumer, looking for it');
  };
}
