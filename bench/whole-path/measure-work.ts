import { sleep } from '../machine/wait-until.ts';
import { trackBody } from '../load/bodies.ts';
import { runLoad } from '../load/load-process.ts';
import { assertAllAccepted } from '../load/load-result.ts';
import type { SinkGroup } from '../sink/sink-messages.ts';
import type { Stage } from '../system/stage.ts';
import type { Work, WorkMeter } from './read-work.ts';
import type { WholeStack } from './whole-stack.ts';

/** The work of a stack between two readings, and the events delivered between them. */
export type MeasuredWork = {
  readonly before: Work;
  readonly after: Work;
  readonly events: number;
  /** Latencies from an event's due time to its arrival; empty if no event was sent. */
  readonly arrived: SinkGroup;
};

export type MeasureWorkOptions = {
  readonly stage: Stage;
  readonly stack: WholeStack;
  readonly meter: WorkMeter;
  /** Single events per second; with 0 nothing is sent. */
  readonly ratePerS: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
};

const connections = 16;
/** Time for which the load outlasts the second reading, so that both readings are taken under load. */
const tailMs = 1_000;

/** Sends single events at a constant rate, and reads the work of the stack at both ends of `measureMs`. */
export async function measureWork({
  stage,
  stack,
  meter,
  ratePerS,
  ...times
}: MeasureWorkOptions): Promise<MeasuredWork> {
  const { sink, group } = stack;
  const readTwice = async (): Promise<MeasuredWork> => {
    sink.forget();
    const [before, first] = [await meter.read(), await sink.group(group)];
    await sleep(times.measureMs);
    const [after, arrived] = [await meter.read(), await sink.group(group)];
    return { before, after, events: arrived.events - first.events, arrived };
  };
  if (ratePerS === 0) {
    await sleep(times.warmUpMs);
    return readTwice();
  }
  let reading: Promise<MeasuredWork> | undefined;
  const load = await runLoad(
    stage,
    {
      url: `${stack.gateway.url}/api/v1/track`,
      bodies: [trackBody(stack.token)],
      connections,
      ratePerS,
      warmUpMs: times.warmUpMs,
      measureMs: times.measureMs + tailMs,
    },
    undefined,
    () => {
      reading = readTwice();
      // A failure is thrown when `reading` is awaited, after the load.
      reading.catch(() => undefined);
    },
  );
  assertAllAccepted(`${ratePerS} events/s`, load);
  if (reading === undefined) throw new Error(`measuring ${ratePerS} events/s: the load never began`);
  return reading;
}
