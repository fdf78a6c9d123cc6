import { request } from 'undici';
import { waitUntil } from '../../machine/wait-until.ts';
import type { Erasure, Evidence, Stop, Withdrawal } from '../judge/judge.ts';
import { startFaultDestination } from './destination.ts';
import type { FaultDestination } from './destination.ts';
import type { FaultStack } from './stack.ts';
import { visitorRequest } from './visitor-events.ts';

/** Events that must not leave under any fault: those for a stopped destination, of an erased visitor, and of one who withdrew consent. */
export type Withheld = {
  /**
   * Stops a destination, erases a visitor, and has another withdraw consent to the purpose of a third destination, while events
   * of all of them wait for a retry. From then on they would be taken.
   */
  begin(): Promise<void>;
  evidence(): Required<Pick<Evidence, 'stops' | 'erasures' | 'withdrawals'>>;
  close(): Promise<void>;
};

const events = 6;
const purpose = 'advertising';
const readyDeadlineMs = 60_000;

/**
 * Makes three destinations that refuse all they are sent until `begin`, and sends events of `visitor` and of the one after,
 * which no other load is.
 */
export async function createWithheld(stack: FaultStack, visitor: number): Promise<Withheld> {
  const { control } = stack;
  const names = ['stopped', 'late', 'consented'];
  const refusing = await Promise.all(names.map((name) => startFaultDestination(name)));
  const [stopped, late, consented] = refusing as [FaultDestination, FaultDestination, FaultDestination];
  const withdrawing = visitor + 1;
  const close = async (): Promise<void> => void (await Promise.all(refusing.map((each) => each.close())));
  const erasures: Erasure[] = [];
  const stops: Stop[] = [];
  const withdrawals: Withdrawal[] = [];
  try {
    for (const each of refusing) each.behave({ kind: 'refuse', status: 503 });
    const [stoppedId, , consentedId] = await addDestinations(stack, refusing);
    await control.call('POST', 'collections/consentSettings', {
      name: purpose,
      defaultState: 'Granted',
      destinationIds: [consentedId],
    });
    await control.publish();
    for (let number = 1; number <= events; number += 1) {
      await sendEvent(stack, visitor, number);
      await sendEvent(stack, withdrawing, number);
    }
    // Only the first event is asked for: the later ones of its visitor wait for it.
    await waitUntil('events to wait for a retry', readyDeadlineMs, () =>
      Promise.resolve(refusing.find(({ asked }) => asked === 0)?.name),
    );
    return {
      async begin() {
        await control.call('DELETE', `visitors/${deviceOf(visitor)}`);
        erasures.push({ visitor, erasedMs: performance.now(), arrivals: late.taken });
        await post(stack, '/api/v1/identify', {
          token: stack.token,
          externalId: externalIdOf(withdrawing),
          userId: deviceOf(withdrawing),
          userProperties: { consent: { [purpose]: false } },
        });
        withdrawals.push({ visitor: withdrawing, answeredMs: performance.now(), arrivals: consented.taken });
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
      evidence: () => ({ stops, erasures, withdrawals }),
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

const externalIdOf = (visitor: number): string => `visitor-${visitor}`;

async function sendEvent(stack: FaultStack, visitor: number, number: number): Promise<void> {
  const { token } = stack;
  const { path, body } = visitorRequest({ token, seed: 0, route: 'track', visitor, numbers: [number], isNamed: true });
  await post(stack, path, { ...(JSON.parse(body ?? '{}') as object), userId: deviceOf(visitor) });
}

async function post({ url }: FaultStack, path: string, body: object): Promise<void> {
  const answer = await request(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await answer.body.dump();
  if (answer.statusCode !== 200)
    throw new Error(`${path} of a visitor whose events must not leave: ${answer.statusCode}`);
}
