import { findFreePort } from '../../shared/embedded/machine/free-port.ts';
import type { Histogram } from 'hdr-histogram-js';
import { decodeLatencies, noPercentiles } from '../load/load-recorder.ts';
import type { Stage } from '../system/stage.ts';
import type { SinkGroup, SinkRequest, SinkTally } from './sink-messages.ts';
import { waitUntil } from '../machine/wait-until.ts';

/** A destination in a separate process that counts what arrives. */
export type Sink = {
  readonly pid: number;
  /** URL of a path, whose first segment is the group in which its requests count. */
  urlOf(path: string): string;
  tally(): Promise<SinkTally>;
  /** Figures of one group, with counts of zero if nothing has arrived. Restarts `latencyMs` of all groups. */
  group(name: string): Promise<SinkGroup>;
  /** Latencies of a group since the last `forget`. */
  latencies(group: string): Promise<Histogram>;
  forget(): void;
  stop(): Promise<void>;
};

const nothing: SinkGroup = { requests: 0, events: 0, latencyMs: noPercentiles, overallMs: noPercentiles, paths: 0 };

export async function startSink(stage: Stage): Promise<Sink> {
  const port = await findFreePort();
  const child = await stage.startChild({ name: 'sink', entry: 'bench/sink/sink-main', args: [String(port)] });
  await child.nextMessage();
  let asking: Promise<unknown> = Promise.resolve();
  const tell = (message: SinkRequest): void => child.send(message);
  const ask = (message: SinkRequest): Promise<unknown> => {
    // Requests are sent one at a time, because an answer does not say which request it belongs to.
    const asked = asking.then(() => {
      const answer = child.nextMessage();
      tell(message);
      return answer;
    });
    asking = asked.catch(() => undefined);
    return asked;
  };
  const tally = (): Promise<SinkTally> => ask({ kind: 'take' }) as Promise<SinkTally>;
  return {
    pid: child.pid,
    urlOf: (path) => `http://127.0.0.1:${port}/${path}`,
    tally,
    group: async (name) => (await tally()).groups[name] ?? nothing,
    latencies: async (group) => decodeLatencies((await ask({ kind: 'latencies', group })) as string),
    forget: () => tell({ kind: 'forget' }),
    stop: () => child.stop(),
  };
}

const quietMs = 1_000;
const deadlineMs = 300_000;

/**
 * Waits until at least `events` have arrived since the sink started and nothing more has arrived for a second. More
 * arrive if requests were accepted after the client had left, or if deliveries are repeated.
 */
export async function waitArrived(sink: Sink, group: string, events: number): Promise<void> {
  let last = -1;
  const missing = async (): Promise<string | undefined> => {
    const { events: arrived } = await sink.group(group);
    const isQuiet = arrived === last;
    last = arrived;
    return isQuiet && arrived >= events ? undefined : `${arrived} of ${events} arrived`;
  };
  await waitUntil('the last events to arrive', deadlineMs, missing, quietMs);
}
