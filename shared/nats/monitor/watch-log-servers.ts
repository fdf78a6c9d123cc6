import { every } from '../../runtime/every.ts';
import type { Durability } from './read-durability.ts';
import { readLogState } from './read-log-servers.ts';
import type { LogServer, LogState } from './read-log-servers.ts';

/** The nats-servers of the log, as their monitor ports last reported them. */
export type LogServersWatch = {
  /** Which failures an acknowledged event survives on the servers. */
  readonly mode: Durability['mode'];
  readonly servers: readonly LogServer[];
  readonly answers: LogState['answers'];
  stop(): void;
};

// A server may return with another configuration, and its disk may fill at any time.
const everyMs = 10_000;
const answerMs = 2_000;

/** Reads the servers now and periodically. Until the first read `mode` is unknown, and there are no servers. */
export function watchLogServers(monitorUrls: string | undefined): LogServersWatch {
  let state: LogState = { durability: { mode: 'unknown', detail: '' }, servers: [], answers: new Map() };
  const read = async (): Promise<void> => {
    state = await readLogState(monitorUrls, answerMs);
  };
  void read();
  const reading = every(everyMs, read);
  return {
    get mode() {
      return state.durability.mode;
    },
    get servers() {
      return state.servers;
    },
    get answers() {
      return state.answers;
    },
    stop: () => void reading.stop(),
  };
}

/** The servers' faults in one line; undefined if there are none. */
export function complaintsOf(servers: readonly LogServer[]): string | undefined {
  const complaints = servers.flatMap(({ name, complaint }) =>
    complaint === undefined ? [] : [`${name}: ${complaint}`],
  );
  return complaints.length === 0 ? undefined : complaints.join('; ');
}
