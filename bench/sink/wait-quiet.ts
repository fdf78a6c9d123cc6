import { waitUntil } from '../system/wait-until.ts';
import type { Sink } from './sink.ts';

const quietMs = 1_000;
const deadlineMs = 300_000;

/** Waits until nothing has arrived for a second. */
export async function waitQuiet(sink: Sink, group: string): Promise<void> {
  let last = -1;
  const somethingCame = async (): Promise<string | undefined> => {
    const { events } = await sink.group(group);
    const before = last;
    last = events;
    return events === before ? undefined : `${events} so far`;
  };
  await waitUntil('the last events to arrive', deadlineMs, somethingCame, quietMs);
}
