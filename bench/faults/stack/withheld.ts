import { request } from 'undici';
import { retriesOfDestination, retrySubject } from '../../../shared/contracts/subjects.ts';
import { settledNoteTier } from '../../../shared/contracts/events/retry-record.ts';
import { connectLog } from '../../../shared/nats/connection/connection.ts';
import { countBySubject } from '../../../shared/nats/messages/subject-log.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { sleep, waitUntil } from '../../machine/wait-until.ts';
import type { Erasure, Evidence, Stop, Withdrawal } from '../judge/judge.ts';
import { startFaultDestination } from './destination.ts';
import type { FaultDestination } from './destination.ts';
import type { FaultStack } from './stack.ts';
import { visitorRequest } from './visitor-events.ts';

/**
 * Events that must not be delivered under any fault: events for a stopped destination, of erased visitors, and of
 * visitors who withdrew consent.
 */
export type Withheld = {
  /**
   * Stops a destination, erases a visitor, and withdraws another visitor's consent for a third destination, while
   * events for all three wait for a retry. Afterwards the destinations accept requests.
   */
  begin(): Promise<void>;
  /**
   * During the fault, withdraws the consent of further visitors and erases others, repeating each request until it is
   * answered. `isOver`: whether the fault has ended.
   */
  during(isOver: () => boolean): Promise<void>;
  /**
   * Waits until the recovered destinations have the events of a visitor that was neither erased nor withdrew consent,
   * which also waited for a retry, and until nothing waits for the stopped one. Returns a problem if that takes too
   * long: withheld events that were never retried show nothing.
   */
  finish(): Promise<string | undefined>;
  evidence(): Required<Pick<Evidence, 'stops' | 'erasures' | 'withdrawals' | 'others'>>;
  close(): Promise<void>;
};

const events = 6;
const purpose = 'advertising';
const readyDeadlineMs = 60_000;
const answerDeadlineMs = 600_000;
const repeatEveryMs = 250;
/** When visitors are erased and withdraw consent, in ms from the start of `during`; the first round always happens. */
const roundsAtMs = [0, 2_000, 6_000] as const;
/** Number of visitors that `begin` uses. */
const visitorsBefore = 2;

/**
 * Creates destinations that refuse everything until `begin`, and one that refuses until `during` has ended. Sends
 * events of `visitor` and of the visitors that follow; no other load may use these.
 */
export async function createWithheld(stack: FaultStack, visitor: number): Promise<Withheld> {
  const names = ['stopped', 'late', 'consented', 'waiting'];
  const refusing = await Promise.all(names.map((name) => startFaultDestination(name)));
  try {
    return await prepare(
      stack,
      visitor,
      refusing as [FaultDestination, FaultDestination, FaultDestination, FaultDestination],
    );
  } catch (error) {
    await closeAll(refusing);
    throw error;
  }
}

async function prepare(
  stack: FaultStack,
  visitor: number,
  refusing: readonly [FaultDestination, FaultDestination, FaultDestination, FaultDestination],
): Promise<Withheld> {
  const { control } = stack;
  const [stopped, late, consented, waiting] = refusing;
  const withdrawing = visitor + 1;
  const rounds = roundsAtMs.map((atMs, index) => {
    const first = visitor + visitorsBefore + index * 2;
    return { atMs, withdraws: first, isErased: first + 1 };
  });
  const kept = visitor + visitorsBefore + rounds.length * 2;
  const ofRounds = rounds.flatMap(({ withdraws, isErased }) => [withdraws, isErased]);
  const evidence = {
    erasures: [] as Erasure[],
    stops: [] as Stop[],
    withdrawals: [] as Withdrawal[],
    others: [...ofRounds, kept],
  };
  const { erasures, stops, withdrawals } = evidence;
  for (const each of refusing) each.behave({ kind: 'refuse', status: 503 });
  // The rounds use a separate source, so that the load does not wait for the destination that refuses longest.
  const { sourceId, token } = await addSource(stack);
  const [stoppedId, , consentedId, waitingId] = await addDestinations(stack, refusing, { waiting: sourceId });
  await control.call('POST', 'collections/consentSettings', {
    name: purpose,
    defaultState: 'Granted',
    destinationIds: [consentedId, waitingId],
  });
  await control.publish();
  for (let number = 1; number <= events; number += 1) {
    await sendEvent(stack, visitor, number);
    await sendEvent(stack, withdrawing, number);
    for (const each of [...ofRounds, kept]) await sendEvent(stack, each, number, token);
  }
  // One request per destination is enough, because a visitor's later events wait for the first.
  await waitUntil('events to wait for a retry', readyDeadlineMs, () =>
    Promise.resolve(refusing.find(({ asked }) => asked === 0)?.name),
  );
  return {
    async begin() {
      await erase(stack, visitor);
      erasures.push({ visitor, erasedMs: performance.now(), arrivals: late.taken });
      await untilLive(stack, withdrawing);
      withdrawals.push({ visitor: withdrawing, liveMs: performance.now(), arrivals: consented.taken });
      await control.call('POST', 'collections/mappings', {
        name: 'stopped',
        destinationId: stoppedId,
        action: 'stop',
        logic: { condition: { property: 'event.event', operator: 'IsTruthy' } },
      });
      await control.publish();
      stops.push({ liveMs: performance.now(), arrivals: stopped.taken });
      for (const each of [stopped, late, consented]) each.behave({ kind: 'take' });
    },
    async during(isOver) {
      const beganMs = performance.now();
      for (const [index, { atMs, withdraws, isErased }] of rounds.entries()) {
        await sleep(Math.max(0, beganMs + atMs - performance.now()));
        if (index > 0 && isOver()) break;
        await untilLive(stack, withdraws, token);
        withdrawals.push({ visitor: withdraws, liveMs: performance.now(), arrivals: waiting.taken });
        await untilAnswered(() => erase(stack, isErased));
        erasures.push({ visitor: isErased, erasedMs: performance.now(), arrivals: waiting.taken });
      }
      waiting.behave({ kind: 'take' });
    },
    async finish() {
      const numbers = Array.from({ length: events }, (_, index) => index + 1);
      const look = async (): Promise<string | undefined> => {
        for (const each of [waiting, late, consented]) {
          const lost = numbers.filter((number) => !isThere(each, kept, number)).length;
          if (lost > 0) return `${lost} events of a visitor who withdrew nothing did not reach '${each.name}'`;
        }
        const left = await countRetries(stack, stoppedId ?? '');
        return left === 0 ? undefined : `${left} frames wait for a retry at the stopped destination`;
      };
      return waitUntil('destinations to recover', answerDeadlineMs, look, repeatEveryMs).then(
        () => undefined,
        (error: unknown) => (error as Error).message,
      );
    },
    evidence: () => evidence,
    close: () => closeAll(refusing),
  };
}

async function closeAll(destinations: readonly FaultDestination[]): Promise<void> {
  await Promise.all(destinations.map((each) => each.close()));
}

const isThere = ({ taken }: FaultDestination, visitor: number, number: number): boolean =>
  taken.some((arrival) => arrival.visitor === visitor && arrival.number === number);

/** Number of frames in the retry log of a destination. */
async function countRetries({ commandEnv }: FaultStack, destinationId: string): Promise<number> {
  const connection = await connectLog({ url: commandEnv['NATS_URL'] ?? '', name: 'bench' });
  try {
    const counts = await countBySubject(connection, streams.retry, retriesOfDestination(destinationId));
    const notes = retrySubject(destinationId, settledNoteTier);
    return [...counts].reduce((sum, [subject, frames]) => (subject === notes ? sum : sum + frames), 0);
  } finally {
    await connection.close();
  }
}

/** Repeats a request, which a fault may leave unanswered, until it succeeds; throws the last error at the deadline. */
async function untilAnswered(ask: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + answerDeadlineMs;
  for (;;) {
    try {
      await ask();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(repeatEveryMs);
    }
  }
}

async function addSource({ control }: FaultStack): Promise<{ readonly sourceId: string; readonly token: string }> {
  const { id } = await control.call('POST', 'sources', { name: 'withheld', type: 'HTTPApiSource' });
  const { token } = await control.call('GET', `sources/${String(id)}/tokens`);
  return { sourceId: String(id), token: String(token) };
}

async function addDestinations(
  { control }: FaultStack,
  destinations: readonly FaultDestination[],
  sourceOf: Readonly<Record<string, string>>,
): Promise<string[]> {
  const ids: string[] = [];
  for (const { name, url } of destinations) {
    const sourceId = sourceOf[name];
    const made = await control.call('POST', 'destinations', {
      name,
      type: 'HTTPDestination',
      settings: { httpDestinationUrl: url },
      ...(sourceId === undefined ? {} : { limitedToSourceIds: [sourceId] }),
    });
    ids.push(String(made['id']));
  }
  await control.publish();
  return ids;
}

const deviceOf = (visitor: number): string => `erased-${visitor}`;

const externalIdOf = (visitor: number): string => `visitor-${visitor}`;

/**
 * Erases a visitor. 404 counts as success, because an earlier request may have erased the visitor although its answer
 * was lost.
 */
async function erase({ control }: FaultStack, visitor: number): Promise<void> {
  try {
    await control.call('DELETE', `visitors/${deviceOf(visitor)}`);
  } catch (error) {
    if (!String(error).includes(': 404 ')) throw error;
  }
}

/**
 * Withdraws consent and waits until the withdrawal is live. The gateway answers as soon as the request is stored; the
 * resolver announces the withdrawal before it lets any later event of the visitor be delivered.
 */
async function untilLive(stack: FaultStack, visitor: number, token = stack.token): Promise<void> {
  await untilAnswered(() => withdraw(stack, visitor, token));
  await untilAnswered(() => sendEvent(stack, visitor, events + 1, token));
  await waitUntil('a withdrawal to be live', answerDeadlineMs, () =>
    Promise.resolve(
      isThere(stack.steady, visitor, events + 1) ? undefined : 'an event after the withdrawal was not delivered',
    ),
  );
}

async function withdraw(stack: FaultStack, visitor: number, token: string): Promise<void> {
  await post(stack, '/api/v1/identify', {
    token,
    externalId: externalIdOf(visitor),
    userId: deviceOf(visitor),
    userProperties: { consent: { [purpose]: false } },
  });
}

async function sendEvent(stack: FaultStack, visitor: number, number: number, token = stack.token): Promise<void> {
  const { path, body } = visitorRequest({ token, seed: 0, route: 'track', visitor, numbers: [number], isNamed: true });
  await post(stack, path, { ...(JSON.parse(body ?? '{}') as object), userId: deviceOf(visitor) });
}

async function post({ url }: FaultStack, path: string, body: object): Promise<void> {
  const answer = await request(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    headersTimeout: readyDeadlineMs,
    bodyTimeout: readyDeadlineMs,
  });
  await answer.body.dump();
  if (answer.statusCode !== 200)
    throw new Error(`${path} for a visitor whose events must be withheld: ${answer.statusCode}`);
}
