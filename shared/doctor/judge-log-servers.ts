import { fail, ok, warn } from './finding.ts';
import type { Finding } from './finding.ts';
import { judgeNatsServer } from './judge-versions.ts';
import type { LogServer } from '../nats/monitor/read-log-servers.ts';

/** A nats-server as its monitor port shows it: its version, what it complains of, and what it may store. */
export function judgeLogServer(server: LogServer): Finding[] {
  return [judgeNatsServer(server.version, server.name), ...judgeHealth(server), ...judgeStorageLimit(server)];
}

/**
 * Whether a server that complains of this has to be started again. From 2.14 on a stream that met a full disk, or another
 * error of it, takes nothing more, and a node of a cluster turns JetStream off; neither heals by itself.
 */
export const needsRestart = (complaint: string): boolean => /write error|JetStream not enabled/i.test(complaint);

function judgeHealth({ name, complaint }: LogServer): Finding[] {
  if (complaint === undefined) return [];
  const advice = needsRestart(complaint)
    ? 'make room on its disk, then restart that nats-server: it does not write again by itself'
    : 'wait while it catches up; look at its log if it does not';
  return [fail(`health of ${name}`, complaint, advice)];
}

function judgeStorageLimit({ name, storage }: LogServer): Finding[] {
  if (storage === undefined) return [];
  const { limitBytes, reservedBytes, isLimitGiven } = storage;
  const about = `storage of ${name}`;
  if (limitBytes < reservedBytes) {
    const detail = `its streams may take ${reservedBytes} bytes together, the server stores ${limitBytes} at most`;
    return [fail(about, detail, 'raise jetstream { max_file_store }, or lower LOG_*_BYTES_MAX; restart the server')];
  }
  if (!isLimitGiven) {
    const detail = `the limit of ${limitBytes} bytes is probably its own choice: three quarters of the room at its start, too little where it starts on a full disk`;
    return [warn(about, detail, 'set jetstream { max_file_store } to three quarters of the disk, in whole megabytes')];
  }
  return [ok(about, `${limitBytes} bytes at most, ${reservedBytes} by the limits of its streams`)];
}
