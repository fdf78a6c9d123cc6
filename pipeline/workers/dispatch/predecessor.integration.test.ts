import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { positionKey } from '../../../shared/contracts/destination-position.ts';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import type { LogGate } from '../../../shared/testing/log-gate.ts';
import { idsOf } from '../../../shared/testing/scripted-destination.ts';
import type { DestinationAnswer, ScriptedDestination } from '../../../shared/testing/scripted-destination.ts';
import { startTestNats } from '../../../shared/testing/servers.ts';
import { until } from '../../../shared/testing/until.ts';
import type { DispatcherActor } from './dispatcher.ts';
import type { DispatcherRig } from './testing/dispatcher-rig.ts';
import { openGatedRig } from './testing/gated-rig.ts';
import type { GatedRig } from './testing/gated-rig.ts';

let nats: NatsServer;
let gated: GatedRig;
let sink: ScriptedDestination;
let rig: DispatcherRig;
let gate: LogGate;
let connection: LogConnection;

beforeAll(async () => {
  nats = await startTestNats();
});
afterAll(() => nats.stop());
beforeEach(async () => {
  gated = await openGatedRig(nats.url);
  ({ sink, rig, gate, connection } = gated);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await gated.close();
});

const endOf = (dispatcher: DispatcherActor): Promise<unknown> =>
  dispatcher.done.then(
    () => 'stopped',
    (error: unknown) => error,
  );

test('predecessor: a dispatcher that stood still before it stored its position is refused, and ends', async () => {
  const predecessor = await rig.start({ healthFlushMs: 20 }, 'predecessor', connection);
  const end = endOf(predecessor);
  await rig.send([{ id: 'one' }]);
  await rig.idle();
  const held = gate.hold(`$KV.POSITIONS.${positionKey(rig.destinationId)}`);
  await rig.send([{ id: 'two' }]);
  await held.arrived;
  const goOn = gate.standStill();
  await rig.start({ healthFlushMs: 20 }, 'successor');
  await rig.send([{ id: 'three' }]);
  await rig.idle();
  await until('the successor has stored its position', async () => (await rig.position())?.owner === 'successor');
  const stored = await rig.position();
  held.release();
  goOn();
  expect(await end).toMatchObject({ code: 'consumer_taken' });
  expect(await rig.position()).toMatchObject({ owner: 'successor', term: stored?.term });
});

test('predecessor: a dispatcher that stood still with events to send sends none of them, and ends', async () => {
  let answer: (answer: DestinationAnswer) => void = () => undefined;
  const first = new Promise<DestinationAnswer>((resolve) => (answer = resolve));
  sink.answer(() => (sink.requests.length === 1 ? first : 200));
  // All events belong to one visitor, so the others wait for the answer to the first.
  await rig.send(['one', 'two', 'three'].map((id) => ({ id, visitor: 'v' })));
  // The predecessor follows erasures on a connection that does not stand still; if it did not know them, it would send
  // nothing for that reason.
  const predecessor = await rig.start({ erasures: rig.erasures }, 'predecessor', connection);
  const end = endOf(predecessor);
  await until('the first is asked for', () => sink.requests.length === 1);
  const goOn = gate.standStill('answers');
  const successor = await rig.start({}, 'successor');
  await rig.idle();
  expect(sink.taken()).toEqual(['one', 'two', 'three']);
  await successor.stop(5_000);
  // By the predecessor's clock, it stood still for as long as a successor may take to start.
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + 10_000);
  answer(200);
  await until('the first is answered', () => sink.taken().length === 4);
  await until('it may send', () => rig.erasures.isCurrent);
  for (let turn = 0; turn < 2; turn += 1) {
    const turns = rig.turns.length;
    predecessor.reconfigured();
    await until('it has had its turn', () => rig.turns.length > turns);
  }
  goOn();
  expect(await end).toMatchObject({ code: 'consumer_taken' });
  expect(sink.requests.flatMap(({ body }) => idsOf(body))).toEqual(['one', 'one', 'two', 'three']);
});
