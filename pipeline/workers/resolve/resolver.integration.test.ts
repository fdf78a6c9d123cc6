import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import type { ResolvedEvent } from '../../../shared/contracts/events/resolved-event.ts';
import { publish } from '../../../shared/nats/publish/publisher.ts';
import { jsonDepthCeiling } from '../../../shared/runtime/json-depth.ts';
import { predecessorHeader } from '../../../shared/nats/messages/predecessors.ts';
import { readNext } from '../../../shared/nats/messages/subject-log.ts';
import { eventsOfAccount, eventsOfAll, ingestSubject } from '../../../shared/contracts/subjects.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { migrate } from '../../../shared/postgres/migrate.ts';
import { createTestDatabase, startTestNats } from '../../../shared/testing/servers.ts';
import { eraseFor, resolvedBy } from '../../../shared/testing/visitors.ts';
import type { TestDatabase } from '../../../shared/testing/servers.ts';
import { defaultIdentityRules } from '../../../shared/visitors/identity-rules.ts';
import { createVisitorStore } from '../../../shared/visitors/postgres-visitor-store.ts';
import { deleteSuppression, selectSuppressions, suppressIdentifiers } from '../../../shared/visitors/suppressions.ts';
import { VisitorsUnavailableError } from '../../../shared/visitors/visitor-store.ts';
import type { Actor } from '../worker/define-worker.ts';
import type { ResolvePlan } from './resolve-plan.ts';
import { noReads } from './visitor-reads.ts';
import { onEmptyLog, defaultSettings, frameOf } from './testing/resolver-rig.ts';
import type { ResolverRig, TestEvent } from './testing/resolver-rig.ts';
import { client } from '../../../shared/nats/connection/client.ts';

let nats: NatsServer;
let database: TestDatabase;

beforeAll(async () => {
  [nats, database] = await Promise.all([startTestNats(), createTestDatabase()]);
  await migrate(database.url);
});
afterAll(async () => {
  await nats?.stop();
  await database?.drop();
});

const withRig = (work: (rig: ResolverRig) => Promise<void>): Promise<void> => onEmptyLog(nats.url, database.url, work);

const until = (resolver: Actor, counter: string, value: number): Promise<void> =>
  vi.waitFor(() => expect(resolver.stats()).toMatchObject({ [counter]: value }), { timeout: 45_000, interval: 20 });

const track = (id: string, body: TestEvent['body'] = {}): TestEvent => ({
  id,
  body: { event: 'E', userId: 'u', ...body },
});
const idsOf = (events: readonly ResolvedEvent[]): string[] => events.map(({ event }) => event.id);

/** Number of messages in EVENTS that came in an atomic batch. */
async function countBatched(rig: ResolverRig): Promise<number> {
  let batched = 0;
  for (let seq = 1; ;) {
    const message = await readNext(rig.connection, streams.events, eventsOfAll, seq);
    if (message === undefined) return batched;
    if (message.header('Nats-Batch-Id') !== undefined) batched += 1;
    seq = message.seq + 1;
  }
}

test.each([true, false])(
  'resolver: frames of many accounts are written as one batch if the log can (%s), each event once',
  (can) =>
    withRig(async (rig) => {
      const { config } = await rig.connection[client].jsm.streams.info(streams.events);
      const setBatches = (allowed: boolean): Promise<unknown> => {
        // The client library does not define this field yet.
        const changed = { ...config, allow_atomic: allowed };
        return rig.connection[client].jsm.streams.update(streams.events, changed);
      };
      await setBatches(can);
      const accounts = Array.from({ length: 40 }, () => randomUUID());
      for (const turn of [0, 1]) {
        await rig.send(
          0,
          accounts.map((account) => ({ ...track(`${account}-${turn}`), account })),
        );
      }
      const resolver = await rig.start(0);
      try {
        await until(resolver, 'resolved', 80);
      } finally {
        await resolver.stop(5_000);
        await setBatches(true);
      }
      for (const account of accounts) {
        expect(idsOf(await rig.written(account))).toEqual([`${account}-0`, `${account}-1`]);
      }
      expect((await countBatched(rig)) > 0).toBe(can);
    }),
);

test('resolver: writes an event with its visitor to the log of its account', () =>
  withRig(async (rig) => {
    const body = { event: 'Signup', userId: 'u1', email: ' Ann@Example.com ', properties: { plan: 'free' } };
    await rig.send(0, [
      {
        id: 'e1',
        ip: '198.51.100.7',
        ua: 'Agent/1',
        at: 5_000,
        body: { ...body, time: 4_000, custom_properties: { a: 1 } },
      },
      {
        id: 'e2',
        kind: 'identify',
        test: true,
        at: 6_000,
        body: { userId: 'u1', userProperties: { city: 'Oslo', email: null } },
      },
    ]);
    const resolver = await rig.start(0);
    await until(resolver, 'resolved', 2);
    await resolver.stop(5_000);
    const common = { source_id: 'source-1', account_id: rig.account };
    expect(await rig.written()).toEqual([
      {
        v: 1,
        event: {
          ...common,
          id: 'e1',
          event: 'Signup',
          time: 4_000,
          received_at: 5_000,
          test: false,
          event_properties: { plan: 'free' },
          context: { sender: { ip: '198.51.100.7', user_agent: 'Agent/1' } },
        },
        visitor: { id: 'u1', email: 'ann@example.com', custom_properties: { a: 1 } },
      },
      {
        v: 1,
        event: {
          ...common,
          id: 'e2',
          event: '$identify',
          time: 6_000,
          received_at: 6_000,
          test: true,
          event_properties: { city: 'Oslo', email: null },
          context: {},
        },
        visitor: { id: 'u1', city: 'Oslo', custom_properties: { a: 1 } },
      },
    ]);
    expect(resolver.stats()).toMatchObject({
      frames: 1,
      events: 2,
      resolved: 2,
      output_frames: 1,
      visitors_created: 1,
    });
  }));

test('resolver: each frame names the sequence of the one before it', () =>
  withRig(async (rig) => {
    for (const id of ['a', 'b', 'c']) await rig.send(0, [track(id)]);
    const resolver = await rig.start(0, { settings: { ...defaultSettings, partEventsMax: 1 } });
    await until(resolver, 'resolved', 3);
    await resolver.stop(5_000);
    const seqs: number[] = [];
    const named: (string | undefined)[] = [];
    for (let seq = 1; named.length < 3;) {
      const found = await readNext(rig.connection, streams.events, eventsOfAccount(rig.account), seq);
      if (found === undefined) break;
      named.push(found.header(predecessorHeader)?.split(' ')[1]);
      seqs.push(found.seq);
      seq = found.seq + 1;
    }
    expect(named).toEqual(['0', String(seqs[0]), String(seqs[1])]);
  }));

test('resolver: an id counts once per account, within a frame, across frames and across a restart', () =>
  withRig(async (rig) => {
    const other = randomUUID();
    await rig.send(0, [track('a'), track('a'), { ...track('a'), account: other }]);
    await rig.send(0, [track('a'), track('b')]);
    const first = await rig.start(0);
    await until(first, 'frames', 2);
    await until(first, 'resolved', 3);
    await first.stop(5_000);
    await rig.send(0, [track('b'), track('c')]);
    const second = await rig.start(0);
    await until(second, 'resolved', 1);
    await second.stop(5_000);
    expect(idsOf(await rig.written())).toEqual(['a', 'b', 'c']);
    expect(idsOf(await rig.written(other))).toEqual(['a']);
    expect(first.stats()).toMatchObject({ duplicates: 2 });
    expect(second.stats()).toMatchObject({ duplicates: 1, deduplication_ids: 4 });
  }));

test('resolver: an id counts once for the same identifiers; with other identifiers it is a new event, which also counts once', () =>
  withRig(async (rig) => {
    const by = (name: string, value: string) => ({ ...track('order-1'), body: { event: 'Paid', [name]: value } });
    await rig.send(0, [by('userId', 'u1'), by('userId', 'u2'), by('email', 'A@b.example'), track('order-1')]);
    await rig.send(0, [by('userId', 'u2'), by('email', ' a@B.example '), track('order-1'), by('externalId', 'u1')]);
    const resolver = await rig.start(0);
    await until(resolver, 'frames', 2);
    await until(resolver, 'resolved', 5);
    await resolver.stop(5_000);
    expect(resolver.stats()).toMatchObject({ events: 8, duplicates: 3, resolved: 5 });
  }));

test('resolver: keeps the order of events over many frames and starts a new frame at the size limit', () =>
  withRig(async (rig) => {
    const frames = 40;
    const perFrame = 25;
    for (let frame = 0; frame < frames; frame += 1) {
      const events = Array.from({ length: perFrame }, (_, n) =>
        track(`${frame * perFrame + n}`, {
          userId: `u${n % 3}`,
          userProperties: { seen: frame * perFrame + n },
          properties: { pad: 'x'.repeat(200) },
        }),
      );
      await rig.send(0, events);
    }
    const resolver = await rig.start(0, { settings: { ...defaultSettings, frameBytesMax: 8_000 } });
    await until(resolver, 'resolved', frames * perFrame);
    await resolver.stop(5_000);
    const written = await rig.written();
    expect(idsOf(written)).toEqual(Array.from({ length: frames * perFrame }, (_, n) => String(n)));
    for (const { event, visitor } of written) expect(visitor['seen']).toBe(Number(event.id));
    expect(resolver.stats()['output_frames']).toBeGreaterThan(frames);
  }));

test('resolver: an account that sends little is found after a flood of another one, in any number of frames', () =>
  withRig(async (rig) => {
    const [flood, quiet] = [randomUUID(), randomUUID()];
    const [frames, eventsEach] = [400, 20];
    for (let frame = 0; frame < frames; frame += 1) {
      const rows = Array.from({ length: eventsEach }, (_, row) => ({ ...track(`${frame}-${row}`), account: flood }));
      await rig.send(0, rows);
    }
    await rig.send(0, [{ ...track('quiet'), account: quiet }]);
    const resolver = await rig.start(0);
    try {
      await until(resolver, 'resolved', frames * eventsEach + 1);
    } finally {
      await resolver.stop(5_000);
    }
    const found = await readNext(rig.connection, streams.events, eventsOfAccount(quiet), 1);
    const written = await rig.writtenFrames(flood);
    const before = written.filter(({ seq }) => seq < (found?.seq ?? Infinity)).flatMap(({ events }) => events);
    expect(before.length).toBeLessThan((frames * eventsEach) / 2);
    expect(idsOf(written.flatMap(({ events }) => events))).toEqual(
      Array.from({ length: frames * eventsEach }, (_, n) => `${Math.floor(n / eventsEach)}-${n % eventsEach}`),
    );
  }));

test('resolver: an account whose visitors are known does not wait for the transactions of others, and each keeps its order', () =>
  withRig(async (rig) => {
    const [quiet, others] = [randomUUID(), Array.from({ length: 5 }, () => randomUUID())];
    const rounds = 20;
    await rig.send(0, [{ ...track('first'), account: quiet }]);
    const holder = await rig.pool.connect();
    const resolver = await rig.start(0);
    try {
      await until(resolver, 'resolved', 1);
      // While this lock is held no new visitor can be written.
      await holder.query('begin; lock table visitors in share mode');
      const [held] = others;
      await rig.send(0, [{ ...track('held'), account: held ?? '' }]);
      await until(resolver, 'frames', 2);
      for (let round = 0; round < rounds; round += 1) {
        const rows = [held ?? '', quiet].map((account) => ({ ...track(`${round}`), account }));
        await rig.send(0, rows);
      }
      await until(resolver, 'resolved', 1 + rounds);
      expect(resolver.stats()).toMatchObject({ visitors_created: 1, accounts_writing: 1 });
      for (let round = 0; round < rounds; round += 1) {
        await rig.send(
          0,
          others.map((account) => ({ ...track(`more-${round}`, { userId: `u${round % 7}` }), account })),
        );
      }
      await holder.query('commit');
      await until(resolver, 'resolved', 1 + rounds + 1 + rounds + others.length * rounds);
    } finally {
      holder.release(true);
      await resolver.stop(5_000);
    }
    const numbers = Array.from({ length: rounds }, (_, round) => `${round}`);
    const more = numbers.map((number) => `more-${number}`);
    expect(idsOf(await rig.written(quiet))).toEqual(['first', ...numbers]);
    const [held, ...rest] = await Promise.all(others.map(async (account) => idsOf(await rig.written(account))));
    expect(held).toEqual(['held', ...numbers, ...more]);
    for (const ids of rest) expect(ids).toEqual(more);
    expect(resolver.stats()).toMatchObject({ duplicates: 0, visitors_created: 2 + others.length * 7 });
  }));

test('resolver: events that the live version does not allow are dropped, test events are not', () =>
  withRig(async (rig) => {
    const plan: ResolvePlan = {
      versionNumber: 7,
      trackingPlan: undefined,
      allows: (name) => name === 'E',
      sourceRules: () => ({
        botControl: { mode: 'Block', threshold: undefined },
        excludeRequestContext: false,
        isVisitorsConnection: true,
        keyTrust: 'public',
      }),
      identity: defaultIdentityRules,
      hasPurposes: false,
      keepsGpc: false,
      visitorReads: () => noReads,
    };
    await rig.send(0, [
      { ...track('bot'), bot: 100 },
      { ...track('human'), bot: 0 },
      track('unknown', { event: 'F' }),
      { ...track('test', { event: 'F' }), bot: 100, test: true },
    ]);
    const resolver = await rig.start(0, { plans: (account) => (account === rig.account ? plan : undefined) });
    await until(resolver, 'resolved', 2);
    await resolver.stop(5_000);
    const written = await rig.written();
    expect(idsOf(written)).toEqual(['human', 'test']);
    expect(written[0]?.event.version_number).toBe(7);
    expect(resolver.stats()).toMatchObject({ bots_dropped: 1, not_allowed_dropped: 1 });
  }));

test('resolver: events that cannot be read or stored become dead letters with their reason, and the rest are resolved', () =>
  withRig(async (rig) => {
    const noFrame = Buffer.from('no frame at all');
    await publish(rig.connection, ingestSubject(0), noFrame, { msgId: randomUUID(), timeoutMs: 5_000 });
    await publish(rig.connection, ingestSubject(0), Buffer.from('{"v":9}\n'), {
      msgId: randomUUID(),
      timeoutMs: 5_000,
    });
    const deepest = (levels: number): string => `${'{"a":['.repeat(levels / 2)}${']}'.repeat(levels / 2)}`;
    const withDepth = (id: string, field: string, levels: number): Buffer =>
      Buffer.from(
        Buffer.from(frameOf(rig.account, [track(id, { [field]: 'XX' })]))
          .toString('utf8')
          .replace('"XX"', deepest(levels)),
      );
    const tooDeep: readonly [string, number][] = [
      ['properties', jsonDepthCeiling + 2],
      ['custom_properties', 9_000],
      ['userProperties', 100_000],
    ];
    for (const [field, levels] of tooDeep) {
      const frame = withDepth(field, field, levels);
      await publish(rig.connection, ingestSubject(0), frame, { msgId: randomUUID(), timeoutMs: 5_000 });
    }
    // The value is as deep as a client may send it; the line adds two levels around it, the most that it may add.
    const fits = withDepth('fits', 'properties', jsonDepthCeiling);
    await publish(rig.connection, ingestSubject(0), fits, { msgId: randomUUID(), timeoutMs: 5_000 });
    await rig.send(0, [track('a'), { ...track('b'), account: 'not-a-uuid' }, track('c')]);
    const resolver = await rig.start(0);
    await until(resolver, 'dead_letters', 6);
    await until(resolver, 'resolved', 3);
    await resolver.stop(5_000);
    expect(idsOf(await rig.written())).toEqual(['fits', 'a', 'c']);
    const letters = await rig.deadLetters();
    expect(letters.map(({ text }) => text.slice(0, 15))).toEqual([
      'no frame at all',
      '{"v":9}',
      '{"v":1,"account',
      '{"v":1,"account',
      '{"v":1,"account',
      '{"v":1,"account',
    ]);
    expect(letters.map(({ accountId }) => accountId)).toEqual([
      undefined,
      undefined,
      ...tooDeep.map(() => rig.account),
      'not-a-uuid',
    ]);
    expect(letters.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('no end'),
      expect.stringContaining('version 9'),
      ...tooDeep.map(() => 'reading a frame: a line nests deeper than 514 levels'),
      expect.stringContaining('uuid'),
    ]);
  }));

test('resolver: an event of an erased visitor that was received before is dropped, and a later one begins a new visitor', () =>
  withRig(async (rig) => {
    await rig.send(0, [track('a', { userProperties: { city: 'Bern' } })]);
    const resolver = await rig.start(0);
    await until(resolver, 'resolved', 1);
    const receivedAt = Date.now();
    await eraseFor(rig.ownerPool, { accountId: rig.account, id: 'u' });
    const back = track('back', { userProperties: { zip: '3000' } });
    await rig.send(0, [
      { ...track('late'), at: receivedAt },
      { ...back, at: Date.now() + 1 },
    ]);
    await until(resolver, 'resolved', 2);
    await resolver.stop(5_000);
    expect(resolver.stats()).toMatchObject({ erased_dropped: 1, visitors_created: 2 });
    const [first, second, ...others] = await rig.written();
    expect([first?.event.id, second?.event.id, others]).toEqual(['a', 'back', []]);
    expect(second?.visitor).toEqual({ id: 'u', zip: '3000', custom_properties: {} });
  }));

test('resolver: events that name a suppressed identifier are dropped and counted until the suppression is removed', () =>
  withRig(async (rig) => {
    const other = randomUUID();
    const request = { accountId: rig.account, identifiers: [{ kind: 'email', value: 'ann@example.com' }] } as const;
    const audit = (): Promise<void> => Promise.resolve();
    await suppressIdentifiers(rig.ownerPool, { ...request, reference: undefined }, { now: Date.now, audit });
    const named = (id: string): TestEvent => track(id, { userId: `u-${id}`, email: 'Ann@example.com' });
    await rig.send(0, [named('during'), track('bystander')]);
    await rig.send(0, [{ ...named('elsewhere'), account: other }]);
    const resolver = await rig.start(0);
    await until(resolver, 'resolved', 2);
    const [suppression] = await selectSuppressions(rig.ownerPool, rig.account, {}, { limit: 2, after: undefined });
    const atMs = Date.now();
    expect(await deleteSuppression(rig.ownerPool, rig.account, { id: suppression?.id ?? '', atMs })).toBe(true);
    await rig.send(0, [
      { ...named('late'), at: atMs },
      { ...named('back'), at: atMs + 1 },
    ]);
    await until(resolver, 'resolved', 3);
    await resolver.stop(5_000);
    expect(idsOf(await rig.written()).toSorted()).toEqual(['back', 'bystander']);
    expect(resolver.stats()).toMatchObject({ erased_dropped: 2, visitors_created: 3 });
  }));

test('resolver: waits while the database is unavailable, then continues where it stopped', () =>
  withRig(async (rig) => {
    const store = createVisitorStore(rig.pool);
    let failuresLeft = 4;
    const flaky = resolvedBy((touches) => {
      failuresLeft -= 1;
      return failuresLeft >= 0 ? Promise.reject(new VisitorsUnavailableError('away')) : store.resolve(touches);
    });
    await rig.send(0, [track('a')]);
    await rig.send(0, [track('b')]);
    const resolver = await rig.start(0, { visitors: flaky });
    await until(resolver, 'resolved', 2);
    await resolver.stop(5_000);
    expect(idsOf(await rig.written())).toEqual(['a', 'b']);
    expect(resolver.stats()).toMatchObject({ duplicates: 0 });
    // More retries than the four above are possible: on a slow machine the real database may time out too.
    expect(resolver.stats()['visitor_retries']).toBeGreaterThanOrEqual(4);
  }));

test('resolver: stops in time if the database never becomes available, and leaves its frames to the next resolver', () =>
  withRig(async (rig) => {
    const away = resolvedBy(() => Promise.reject(new VisitorsUnavailableError('away')));
    await rig.send(0, [track('a')]);
    const stuck = await rig.start(0, { visitors: away });
    await vi.waitFor(() => expect(stuck.stats()['visitor_retries']).toBeGreaterThan(1), { timeout: 45_000 });
    await stuck.stop(300);
    await stuck.done;
    const next = await rig.start(0);
    await until(next, 'resolved', 1);
    await next.stop(5_000);
    expect(idsOf(await rig.written())).toEqual(['a']);
  }));

test('resolver: while the log is full events wait, and then all are resolved in order', () =>
  withRig(async (rig) => {
    const { jsm } = rig.connection[client];
    const { config } = await jsm.streams.info(streams.events);
    await jsm.streams.update(streams.events, { ...config, max_bytes: 4_096 });
    const events = Array.from({ length: 20 }, (_, n) => track(String(n), { properties: { pad: 'x'.repeat(500) } }));
    for (const event of events) await rig.send(0, [event]);
    const resolver = await rig.start(0, { settings: { ...defaultSettings, frameBytesMax: 1_500 } });
    await vi.waitFor(() => expect(resolver.stats()['publish_retries']).toBeGreaterThan(1), { timeout: 45_000 });
    await jsm.streams.update(streams.events, config);
    await until(resolver, 'resolved', 20);
    await resolver.stop(5_000);
    expect(idsOf(await rig.written())).toEqual(events.map(({ id }) => id));
  }));

test('resolver: two partitions that see the same externalId create one visitor and lose no property', () =>
  withRig(async (rig) => {
    const rounds = 30;
    for (let round = 0; round < rounds; round += 1) {
      for (const partition of [0, 1]) {
        const userProperties = { external_id: `x${round % 3}`, [`p${partition}_${round}`]: round };
        await rig.send(partition, [{ id: `${partition}-${round}`, kind: 'identify', body: { userProperties } }]);
      }
    }
    const resolvers = [await rig.start(0), await rig.start(1)];
    for (const resolver of resolvers) await until(resolver, 'resolved', rounds);
    for (const resolver of resolvers) await resolver.stop(5_000);
    const written = await rig.written();
    expect(new Set(written.map(({ visitor }) => visitor.id)).size).toBe(3);
    const store = createVisitorStore(rig.pool);
    for (const name of ['x0', 'x1', 'x2']) {
      const found = await store.find(rig.account, { externalId: name });
      // The external_id, and one property for each event of the visitor.
      expect(Object.keys(found?.properties ?? {})).toHaveLength(1 + (rounds / 3) * 2);
    }
  }));
