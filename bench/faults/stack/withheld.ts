import { request } from 'undici';
import { waitUntil } from '../../machine/wait-until.ts';
import type { Erasure, Evidence, Stop } from '../judge/judge.ts';
import { startFaultDestination } from './destination.ts';
import type { FaultDestination } from './destination.ts';
import type { FaultStack } from './stack.ts';
import { visitorRequest } from './visitor-events.ts';

/** Events that must not leave under any fault: those for a stopped destination, and those of an erased visitor. */
export type Withheld = {
  /** Stops the destination and erases the visitor, while events of both wait for a retry. From then on both would be taken. */
  begin(): Promise<void>;
  evidence(): Required<Pick<Evidence, 'stops' | 'erasures'>>;
  close(): Promise<void>;
};

const events = 6;
const readyDeadlineMs = 60_000;

/** Makes two destinations that refuse all they are sent until `begin`, and sends events of `visitor`, which no other load is. */
export async function createWithheld(stack: FaultStack, visitor: number): Promise<Withheld> {
  const { control } = stack;
  const [stopped, late] = await Promise.all([startFaultDestination('stopped'), startFaultDestination('late')]);
  const refusing = [stopped, late];
  const close = async (): Promise<void> => void (await Promise.all(refusing.map((each) => each.close())));
  const erasures: Erasure[] = [];
  const stops: Stop[] = [];
  try {
    for (const each of refusing) each.behave({ kind: 'refuse', status: 503 });
    const [stoppedId] = await addDestinations(stack, refusing);
    for (let number = 1; number <= events; number += 1) await sendEvent(stack, visitor, number);
    // Only the first event is asked for: the later ones of its visitor wait for it.
    await waitUntil('events to wait for a retry', readyDeadlineMs, () =>
      Promise.resolve(refusing.find(({ asked }) => asked === 0)?.name),
    );
    return {
      async begin() {
        await control.call('DELETE', `visitors/${deviceOf(visitor)}`);
        erasures.push({ visitor, erasedMs: performance.now(), arrivals: late.taken });
        await control.call('POST', 'collections/mappings', {
          name: 'stopped',
          destinationId: stoppedId,
          action: 'stop',
          logic: { condition: { property: 'event.event', operator: 'IsTruthy' } },
        });
        await control.publish();
        stops.push({ liveMs: performance.now(), arrivals: stopped.taken });
        for (const each of refusing) each.behave({ kind: 'take' });
      },
      evidence: () => ({ stops, erasures }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function addDestinations({ control }: FaultStack, destinations: readonly FaultDestination[]): Promise<string[]> {
  const ids: string[] = [];
  for (const { name, url } of destinations) {
    const made = await control.call('POST', 'destinations', {
      name,
      type: 'HTTPDestination',
      settings: { httpDestinationUrl: url },
    });
    ids.push(String(made['id']));
  }
  await control.publish();
  return ids;
}

const deviceOf = (visitor: number): string => `erased-${visitor}`;

async function sendEvent({ url, token }: FaultStack, visitor: number, number: number): Promise<void> {
  const { path, body } = visitorRequest({ token, seed: 0, route: 'track', visitor, numbers: [number], isNamed: true });
  const answer = await request(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...(JSON.parse(body ?? '{}') as object), userId: deviceOf(visitor) }),
  });
  await answer.body.dump();
  if (answer.statusCode !== 200) throw new Error(`sending an event of the visitor to erase: ${answer.statusCode}`);
}
