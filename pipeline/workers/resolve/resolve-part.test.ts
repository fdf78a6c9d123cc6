import { noWithdrawals } from './testing/no-withdrawals.ts';
import { randomBytes, randomUUID } from 'node:crypto';
import { noSuspicion } from '../worker/suspicion.ts';
import pino from 'pino';
import { expect, test } from 'vitest';
import { openFrame } from '../../../shared/contracts/events/compressed-frame.ts';
import { encodeHashes, hashWithoutGroup } from '../../../shared/contracts/events/event-hash.ts';
import { releasedLine } from '../../../shared/contracts/events/quarantine.ts';
import { decodeResolved } from '../../../shared/contracts/events/resolved-event.ts';
import { resolvedBy } from '../../../shared/testing/visitors.ts';
import { defaultIdentityRules } from '../../../shared/visitors/identity-rules.ts';
import { VisitorProperties } from '../../../shared/visitors/visitor-properties.ts';
import { nothingLeftOut, VisitorsRefusedError } from '../../../shared/visitors/visitor-store.ts';
import type { LeftOut, VisitorOutcome, VisitorTouch } from '../../../shared/visitors/visitor-store.ts';
import { IdentityFigures } from './identity-figures.ts';
import { createDeduplication } from './deduplication.ts';
import { readFrames } from './read-frames.ts';
import { UnfinishedFrames } from './unfinished-frames.ts';
import { resolvePart } from './resolve-part.ts';
import type { ResolvedPart, StepContext } from './resolve-part.ts';
import { WaitingEvents } from './waiting-events.ts';
import type { StoredFrame } from './waiting-events.ts';
import { createResolverCounts, createWriters } from './resolver-context.ts';
import { defaultSettings, frameOf } from './testing/resolver-rig.ts';
import { AccountCounts } from './account-counts.ts';
import { PersonalData } from './personal-data.ts';
import { createPlanFigures } from './plan-figures.ts';
import { VisitorRateLimit } from './visitor-rate-limit.ts';
import { noReads } from './visitor-reads.ts';

const [erased, refused] = ['erased', 'refused'];
const properties = new VisitorProperties({ custom_properties: {} });

function outcomeOf({ claim }: VisitorTouch): VisitorOutcome {
  if (claim.userId === refused) throw new VisitorsRefusedError('storing a visitor: refused');
  return claim.userId === erased ? { kind: 'erased' } : { kind: 'resolved', id: 'v', properties, created: false };
}

function createContext(): StepContext {
  return {
    connection: { messageBytesMax: 1024 ** 2 },
    visitors: resolvedBy(async (touches) => ({
      outcomes: touches.map(outcomeOf),
      created: 0,
      updated: 0,
      merged: 0,
    })),
    plans: () => ({
      versionNumber: 1,
      trackingPlan: undefined,
      allows: (name) => name !== 'Forbidden',
      sourceRules: () => ({
        botControl: { mode: 'Block', threshold: 10 },
        excludeRequestContext: false,
        isVisitorsConnection: true,
        keyTrust: 'public',
      }),
      identity: defaultIdentityRules,
      hasPurposes: false,
      keepsGpc: false,
      visitorReads: () => noReads,
    }),
    withdrawals: noWithdrawals,
    settings: defaultSettings,
    logger: pino({ level: 'silent' }),
    deduplication: createDeduplication(defaultSettings.deduplication),
    visitorLimit: new VisitorRateLimit(defaultSettings.visitorRate),
    visitorsCut: new AccountCounts('visitors_cut'),
    visitorsFull: new AccountCounts('visitors_full'),
    identity: new IdentityFigures(),
    plan: createPlanFigures(),
    personalData: new PersonalData(),
    costBudget: { recordActivity: () => undefined },
    ...createWriters(),
    counts: createResolverCounts(),
    signal: new AbortController().signal,
    beginTurn: () => undefined,
    suspicion: noSuspicion,
  };
}

/** Resolves frames as a resolver does, but publishes nothing. */
async function resolveAll(context: StepContext, frames: readonly StoredFrame[]) {
  const parts: ResolvedPart[] = [];
  const { partEventsMax: eventsMax, accountEventsMax } = context.settings;
  const waiting = new WaitingEvents({ eventsMax, accountEventsMax });
  await readFrames(context, frames, { waiting, unfinished: new UnfinishedFrames() });
  while (!waiting.isEmpty) {
    const { resolved, left } = await resolvePart(context, waiting.next(), () => false);
    parts.push(resolved);
    const written = await left?.resolve();
    if (written !== undefined) parts.push(written);
  }
  return {
    parts,
    frames: parts.flatMap(({ frames }) => frames),
    deadLetters: parts.flatMap(({ deadLetters }) => deadLetters),
  };
}

const stored = (seq: number, data: Uint8Array) => ({ seq, data, storedAtMs: Date.now() });

test('resolve part: after a restart a repeated event is a duplicate of its release from quarantine', async () => {
  const first = frameOf('account', [{ id: 'e', body: { event: 'E', userId: 'u' } }]);
  const released = releasedLine(first);
  const before = createContext();
  const { frames } = await resolveAll(before, [stored(1, released)]);
  expect(before.counts).toMatchObject({ duplicates: 0 });
  // In the same process, and in the next one, which knows only the ids of the log.
  await resolveAll(before, [stored(2, first)]);
  expect(before.counts).toMatchObject({ duplicates: 1 });
  const after = createContext();
  for (const { ids } of frames) {
    after.deduplication.addPacked({ ids: Buffer.from(ids, 'base64'), timeMs: Date.now() });
  }
  expect((await resolveAll(after, [stored(2, first), stored(3, released)])).frames).toEqual([]);
  expect(after.counts).toMatchObject({ duplicates: 2 });
  // A further release passes.
  expect((await resolveAll(after, [stored(4, releasedLine(released))])).frames).toHaveLength(1);
});

test('resolve part: events that are dropped are counted by reason, and the rest is written in order', async () => {
  const context = createContext();
  const event = (id: string, body: Readonly<Record<string, string>> = {}) => ({
    id,
    body: { event: 'Order', ...body },
  });
  const events = [
    event('first'),
    event('first'),
    { ...event('bot'), bot: 90 },
    event('forbidden', { event: 'Forbidden' }),
    event('gone', { userId: 'erased' }),
    event('odd', { userId: 'refused' }),
    event('last'),
  ];
  const frames = [stored(1, frameOf('account', events)), stored(2, Buffer.from('{"v":1}\n'))];
  const { frames: written, deadLetters } = await resolveAll(context, frames);
  expect(written.flatMap(({ payload }) => decodeResolved(payload).map(({ event: { id } }) => id))).toEqual([
    'first',
    'last',
  ]);
  expect(deadLetters.map(({ seq, line, reason }) => ({ seq, line, reason }))).toEqual([
    {
      seq: 2,
      line: 0,
      reason: 'reading a frame: an envelope lacks a valid account, source, id, at, kind, body or release',
    },
    { seq: 1, line: 5, reason: 'storing a visitor: refused' },
  ]);
  expect(context.counts).toMatchObject({
    events: 8,
    duplicates: 1,
    bots_dropped: 1,
    not_allowed_dropped: 1,
    erased_dropped: 1,
    dead_letters: 0,
  });
});

test.each(['account', 'account\nsource-1'])(
  'resolve part: an event that an earlier build recorded without its group, in the scope %j, is a duplicate',
  async (scope) => {
    const context = createContext();
    const ids = Buffer.from(encodeHashes([hashWithoutGroup(scope, 'order-1')]), 'base64');
    context.deduplication.addPacked({ ids, timeMs: Date.now() });
    context.deduplication.noteUngrouped(Date.now());
    const events = ['order-1', 'order-2'].map((id) => ({ id, body: { event: 'Order' } }));
    await resolveAll(context, [stored(1, frameOf('account', events))]);
    expect(context.counts).toMatchObject({ events: 2, duplicates: 1 });
  },
);

test.each([
  [
    { userId: 'undefined', email: ' Ann@Example.com ' },
    { userId: 'undefined', externalIds: [], emails: ['ann@example.com'] },
  ],
  [
    { externalId: 'c-1', userProperties: { external_id: 'c-2', email: 'test' } },
    { userId: undefined, externalIds: ['c-1', 'c-2'], emails: ['test'] },
  ],
  [
    { externalId: 'c-1', email: 'a@b.ch', userProperties: { external_id: 'c-1', email: 'A@b.ch' } },
    { userId: undefined, externalIds: ['c-1'], emails: ['a@b.ch'] },
  ],
])(
  'resolve part: a redelivered event with %j, which an earlier build resolved, is a duplicate',
  async (body, hashed) => {
    const context = createContext();
    const ids = Buffer.from(encodeHashes([hashWithoutGroup('account', 'order-1', hashed)]), 'base64');
    context.deduplication.addPacked({ timeMs: Date.now(), ids });
    context.deduplication.noteUngrouped(Date.now());
    const events = ['order-1', 'order-2'].map((id) => ({ id, body: { event: 'Order', ...body } }));
    await resolveAll(context, [stored(1, frameOf('account', events))]);
    expect(context.counts).toMatchObject({ events: 2, duplicates: 1 });
  },
);

test('resolve part: an event whose line has its fields in another order still gets its account, and is counted', async () => {
  const context = createContext();
  const [first = '', second = ''] = ['a', 'b'].map((id) =>
    Buffer.from(frameOf('account', [{ id, body: { event: 'E' } }])).toString(),
  );
  const { v, ...others } = JSON.parse(second) as Readonly<Record<string, unknown>>;
  const data = Buffer.from(`${first}${JSON.stringify({ ...others, v })}\n`);
  const { frames } = await resolveAll(context, [stored(1, data)]);
  expect(frames.map(({ accountId, events }) => ({ accountId, events }))).toEqual([{ accountId: 'account', events: 2 }]);
  expect(context.counts).toMatchObject({ events: 2, accounts_parsed: 1 });
});

test('resolve part: an account with nothing to write is resolved while others wait for the database', async () => {
  const context = createContext();
  const outcomeWith = (leftOut: Partial<LeftOut>): VisitorOutcome => ({
    kind: 'resolved',
    id: 'v',
    properties,
    created: false,
    leftOut: { ...nothingLeftOut, ...leftOut },
  });
  const known = outcomeWith({ oversized: 1, keptApart: 1 });
  const visitors: StepContext['visitors'] = {
    ...context.visitors,
    lookUp: async (touches) => ({
      outcomes: touches.map(({ accountId }) => (accountId === 'known' ? known : undefined)),
      write: async () => ({
        outcomes: [outcomeWith({ oversized: 1, notOverwritten: 3, full: 2 }), { kind: 'erased' }],
        created: 1,
        updated: 0,
        merged: 0,
      }),
    }),
  };
  const events = ['a', 'b', 'c', 'c', 'd'].map((id, index) => ({
    id,
    account: index % 2 === 0 ? 'known' : 'new',
    body: { event: id === 'd' ? 'Forbidden' : 'E' },
  }));
  const waiting = new WaitingEvents({ eventsMax: 10, accountEventsMax: 10 });
  const frame = stored(1, frameOf('account', events));
  await readFrames(context, [frame], { waiting, unfinished: new UnfinishedFrames() });
  const { resolved, left } = await resolvePart({ ...context, visitors }, waiting.next(), () => false);
  const idsOf = ({ frames }: ResolvedPart): string[] =>
    frames.flatMap(({ payload }) => decodeResolved(payload).map(({ event: { id } }) => id));
  const linesOf = ({ part }: ResolvedPart): number[] => part.events.map(({ origin }) => origin.line);
  expect({ ids: idsOf(resolved), lines: linesOf(resolved) }).toEqual({ ids: ['a', 'c'], lines: [0, 2, 4] });
  expect(context.counts).toMatchObject({
    visitors_created: 0,
    visitors_oversized: 2,
    people_kept_apart: 2,
    not_allowed_dropped: 1,
  });
  expect(left?.accounts).toEqual(new Set(['new']));
  const written = await left?.resolve();
  expect(written && { ids: idsOf(written), lines: linesOf(written) }).toEqual({ ids: ['b'], lines: [1, 3] });
  expect(context.counts).toMatchObject({
    visitors_created: 1,
    visitors_oversized: 3,
    server_values_kept: 3,
    visitors_full: 2,
    erased_dropped: 1,
  });
});

test('resolve part: an account that leaves its queue during a look-up gets none of the visitors that were looked up for others', async () => {
  const context = createContext();
  let isQueued = true;
  const visitorOf = ({ accountId }: VisitorTouch): VisitorOutcome => ({
    kind: 'resolved',
    id: `visitor of ${accountId}`,
    properties,
    created: false,
  });
  const visitors: StepContext['visitors'] = {
    ...context.visitors,
    resolve: async (touches) => ({ outcomes: touches.map(visitorOf), created: 0, updated: 0, merged: 0 }),
    lookUp: async (touches) => {
      isQueued = false;
      return {
        outcomes: touches.map((touch, index) => (index === 0 ? visitorOf(touch) : undefined)),
        write: async () => ({ outcomes: touches.slice(1).map(visitorOf), created: 0, updated: 0, merged: 0 }),
      };
    },
  };
  const accounts = ['queued', 'queued', 'queued', 'other', 'other'];
  const events = accounts.map((account, index) => ({ id: `${account}-${index}`, account, body: { event: 'E' } }));
  const waiting = new WaitingEvents({ eventsMax: 10, accountEventsMax: 10 });
  const frame = stored(1, frameOf('account', events));
  await readFrames(context, [frame], { waiting, unfinished: new UnfinishedFrames() });
  const isApart = (account: string): boolean => account === 'queued' && isQueued;
  const { resolved, left, apart } = await resolvePart({ ...context, visitors }, waiting.next(), isApart);
  const parts = [resolved, await left?.resolve(), ...(await Promise.all(apart.map((part) => part.resolve())))];
  const written = parts.flatMap((part) =>
    (part?.frames ?? []).flatMap(({ payload }) =>
      decodeResolved(payload).map(({ event, visitor }) => `${event.id}: ${visitor.id}`),
    ),
  );
  expect(written.toSorted()).toEqual([
    'other-3: visitor of other',
    'other-4: visitor of other',
    'queued-0: visitor of queued',
    'queued-1: visitor of queued',
    'queued-2: visitor of queued',
  ]);
  expect(apart.map(({ accountId }) => accountId)).toEqual(['queued']);
  expect(context.counts.erased_dropped).toBe(0);
});

test('resolve part: an event that needs the full parser is counted, and keeps its place among the others', async () => {
  const context = createContext();
  const bodies = [
    { event: 'E', properties: { a: 1 } },
    { event: 'E', userProperties: { city: 'Oslo' } },
    { event: 'tab\t', properties: { a: 3 } },
    { event: 'E', properties: { a: 4 } },
  ];
  const events = bodies.map((body, index) => ({ id: `${index}`, body }));
  const { frames } = await resolveAll(context, [stored(1, frameOf('account', events))]);
  const found = frames.flatMap(({ payload }) => decodeResolved(payload).map(({ event }) => event));
  expect(found.map(({ id, event, event_properties: given }) => [id, event, given])).toEqual([
    ['0', 'E', { a: 1 }],
    ['1', 'E', {}],
    ['2', 'tab\t', { a: 3 }],
    ['3', 'E', { a: 4 }],
  ]);
  expect(context.counts).toMatchObject({ events: 4, events_parsed: 2 });
});

test('resolve part: a message that is not a frame becomes a dead letter unchanged, and the next message is read', async () => {
  const context = createContext();
  const frames = [
    stored(1, Buffer.from([0xff, 0xfe])),
    stored(2, frameOf('account', [{ id: 'a', body: { event: 'E' } }])),
  ];
  const { frames: written, deadLetters } = await resolveAll(context, frames);
  expect(written.map(({ events }) => events)).toEqual([1]);
  expect(deadLetters).toMatchObject([{ seq: 1, line: undefined, payload: Buffer.from([0xff, 0xfe]) }]);
});

const bytesOf = (frames: readonly { readonly payload: Uint8Array }[]): number =>
  frames.reduce((sum, { payload }) => sum + payload.length, 0);

/** A context in which every visitor has properties of 30 KiB. */
function withLargeVisitors(): StepContext {
  // Random text, which compression cannot shrink much.
  const bio = randomBytes(22 * 1024).toString('base64');
  const notes = randomBytes(5 * 1024).toString('base64');
  const large = new VisitorProperties({ consent: { ads: true }, email: 'a@b.c', notes, bio });
  const visitors = resolvedBy(async (touches) => ({
    outcomes: touches.map(({ claim }) => ({
      kind: 'resolved',
      id: claim.userId ?? 'v',
      properties: large,
      created: false,
    })),
    created: 0,
    updated: 0,
    merged: 0,
  }));
  return { ...createContext(), visitors };
}

test('resolve part: many events are resolved in parts, in order', async () => {
  const context = createContext();
  const ids = Array.from({ length: 25 }, (_, index) => `e${index}`);
  const settings = { ...context.settings, partEventsMax: 10 };
  const frame = frameOf(
    'account',
    ids.map((id) => ({ id, body: { event: 'E' } })),
  );
  const { parts, frames } = await resolveAll({ ...context, settings }, [stored(1, frame)]);
  expect(parts.map(({ part }) => part.events.length)).toEqual([0, 10, 0, 10, 0, 5]);
  expect(frames.flatMap(({ payload }) => decodeResolved(payload).map(({ event: { id } }) => id))).toEqual(ids);
});

/** A context with one visitor for each externalId, none of which has properties. */
function withSmallVisitors(frames: 'off' | 'grown'): StepContext {
  const context = createContext();
  const known = new Map<string, string>();
  const idOf = (externalId = ''): string => {
    const id = known.get(externalId) ?? randomUUID();
    known.set(externalId, id);
    return id;
  };
  const visitors = resolvedBy(async (touches) => ({
    outcomes: touches.map(({ claim: { externalIds } }) => ({
      kind: 'resolved',
      id: idOf(externalIds[0]),
      properties,
      created: false,
    })),
    created: 0,
    updated: 0,
    merged: 0,
  }));
  const settings = { ...context.settings, compression: { ...context.settings.compression, frames } };
  return { ...context, visitors, settings };
}

test.each([
  ['one visitor', () => 'heavy'],
  ['many visitors', (index: number) => `v${index}`],
])('resolve part: 60-byte rows of %s are written in at most four times the bytes sent', async (_, visitorOf) => {
  const timesSent = async (frames: 'off' | 'grown'): Promise<number> => {
    const context = withSmallVisitors(frames);
    let [bytesSent, bytesOut] = [0, 0];
    for (let batch = 0; batch < 3; batch += 1) {
      const events = Array.from({ length: 1_000 }, (_row, row) => ({
        id: `mfq1x2-${batch}-${row}`,
        source: '00000000-0000-7000-8000-000000000001',
        ip: '198.51.100.7',
        ua: 'okhttp/4.12.0',
        body: { event: 'x', externalId: visitorOf(row), distinctId: `mfq1x2-${batch}-${row}` },
      }));
      for (const { body } of events) bytesSent += JSON.stringify(body).length;
      const frame = frameOf('00000000-0000-7000-8000-00000000000a', events);
      const { frames: written } = await resolveAll(context, [stored(batch + 1, frame)]);
      bytesOut += bytesOf(written) + written.reduce((sum, { ids }) => sum + ids.length, 0);
    }
    return bytesOut / bytesSent;
  };
  expect(await timesSent('off')).toBeGreaterThan(4);
  expect(await timesSent('grown')).toBeLessThanOrEqual(4);
});

test('resolve part: the output is at most four times the input, plus 8 KiB for each visitor of a frame', async () => {
  const tiny = (from: number, length: number, userId: (index: number) => string) =>
    Array.from({ length }, (_, at) => ({
      id: `00000000-0000-7000-8000-${String(from + at).padStart(12, '0')}`,
      source: '00000000-0000-7000-8000-000000000001',
      body: { event: 'E', userId: userId(from + at) },
    }));
  const cases = [
    { name: 'many rows of one visitor', frames: [tiny(0, 3_000, () => 'v')] },
    { name: 'many rows of many visitors', frames: [tiny(0, 3_000, (index) => `v${index}`)] },
    { name: 'one event a frame', frames: Array.from({ length: 600 }, (_, at) => tiny(at, 1, () => 'v')) },
  ];
  for (const { name, frames } of cases) {
    const context = withLargeVisitors();
    let [bytesIn, bytesOut, visitors] = [0, 0, 0];
    for (const [seq, events] of frames.entries()) {
      const frame = frameOf('00000000-0000-7000-8000-00000000000a', events);
      bytesIn += frame.length;
      bytesOut += bytesOf((await resolveAll(context, [stored(seq + 1, frame)])).frames);
      visitors += new Set(events.map(({ body }) => body.userId)).size;
    }
    const bytesMax = 4 * bytesIn + visitors * 8 * 1024 + 1024 ** 2;
    expect({ name, isBounded: bytesOut <= bytesMax, bytesIn, bytesOut }).toMatchObject({ isBounded: true });
    const cut = context.visitorsCut.stats()['visitors_cut:00000000-0000-7000-8000-00000000000a'] ?? 0;
    expect(cut).toBe(context.counts.visitors_cut);
  }
});

test('resolve part: an ordinary profile is written whole with each event, however many visitors there are', async () => {
  const traits = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`trait_number_${n}`, `some value of ${n}`]));
  const ordinary = new VisitorProperties({ email: 'ann@example.com', first_name: 'Ann', custom_properties: traits });
  const visitors = resolvedBy(async (touches) => ({
    outcomes: touches.map(({ claim }) => ({
      kind: 'resolved',
      id: claim.userId ?? 'v',
      properties: ordinary,
      created: false,
    })),
    created: 0,
    updated: 0,
    merged: 0,
  }));
  const context = { ...createContext(), visitors };
  const events = Array.from({ length: 2_000 }, (_, n) => ({ id: `e${n}`, body: { event: 'E', userId: `u${n}` } }));
  const { frames } = await resolveAll(context, [stored(1, frameOf('account', events))]);
  const found = frames.flatMap(({ payload }) => decodeResolved(openFrame(payload)));
  expect(found).toHaveLength(events.length);
  for (const { visitor } of found) expect(visitor).toMatchObject(ordinary.value);
  expect(context.counts.visitors_cut).toBe(0);
});
