import { waitUntil } from '../machine/wait-until.ts';
import type { Sink } from './sink.ts';

const quietMs = 1_000;
const deadlineMs = 300_000;

/**
 * Waits until at least `events` have arrived since the sink started, and then until nothing has come for a second:
 * there are more where requests were accepted whose answer nobody waited for, or where something came twice.
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
