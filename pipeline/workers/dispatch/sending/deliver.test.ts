import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UnfitEventError } from '../../../../shared/destinations/sdk/destination.ts';
import type { OfferedDestination } from '../../../../shared/destinations/common-settings.ts';
import type { OutboundAnswer, OutboundEvent } from '../../../../shared/destinations/sdk/destination.ts';
import { sampleEvent } from '../../../../shared/destinations/sdk/sample-event.ts';
import { deliver, splitGroups } from './deliver.ts';

const event = (id: string, visitor = id): OutboundEvent => {
  const resolved = sampleEvent({ id });
  return { resolved: { ...resolved, visitor: { ...resolved.visitor, id: visitor } } };
};
const idsOf = (events: readonly OutboundEvent[]): string => events.map(({ resolved }) => resolved.event.id).join();

const firstLetter = ({ resolved }: OutboundEvent): string => resolved.event.id.charAt(0);

/** A kind whose request body lists the ids of the events; the first letter of an id is its group. */
const byLetter: OfferedDestination = {
  order: 'none',
  batchEventsMax: 100,
  groupOf: firstLetter,
  buildRequest(events) {
    if (idsOf(events).includes('unfit')) throw new UnfitEventError('has no use');
    return { method: 'POST', url: 'https://example.com/', headers: {}, body: idsOf(events) };
  },
};

async function deliverTo(
  prepared: OfferedDestination,
  events: readonly OutboundEvent[],
  answer: (body: string) => Partial<OutboundAnswer>,
  isLive?: () => boolean,
) {
  const bodies: string[] = [];
  const sender = {
    send: async ({ body }: { readonly body: string | undefined }) => {
      bodies.push(body ?? '');
      const said: OutboundAnswer = { status: 200, headers: {}, body: '', ...answer(body ?? '') };
      return { kind: 'answered' as const, answer: said };
    },
    close: async () => undefined,
  };
  const delivered = await deliver(prepared, sender, events, isLive);
  return { bodies, delivered, kinds: delivered.attempts.map((attempt) => attempt?.outcome.kind) };
}

test('deliver: one group: all events go in one request', async () => {
  const { bodies, kinds } = await deliverTo(byLetter, [event('a1'), event('a2')], () => ({}));
  expect(bodies).toEqual(['a1,a2']);
  expect(kinds).toEqual(['delivered', 'delivered']);
});

test('deliver: groups: each group has its own request, and the outcomes are in the order of the events', async () => {
  const events = [event('a1'), event('b1'), event('a2'), event('c1'), event('b2')];
  const { bodies, delivered, kinds } = await deliverTo(byLetter, events, (body) => ({
    status: body.startsWith('b') ? 429 : 200,
  }));
  expect(bodies).toEqual(['a1,a2', 'b1,b2', 'c1']);
  expect(kinds).toEqual(['delivered', 'retry', 'delivered', 'delivered', 'retry']);
  expect(delivered).toMatchObject({ requests: 3, isUp: false, isOverloaded: true });
});

test('deliver: groups: a refused request is halved within its group', async () => {
  const events = [event('a1'), event('b1'), event('a2'), event('b2')];
  const { bodies, kinds } = await deliverTo(byLetter, events, (body) => ({
    status: body.includes('b2') ? 400 : 200,
  }));
  expect(bodies).toEqual(['a1,a2', 'b1,b2', 'b1', 'b2']);
  expect(kinds).toEqual(['delivered', 'delivered', 'delivered', 'reject']);
});

test('deliver: unfit event: the event is rejected without being sent, with its reason', async () => {
  const { bodies, delivered } = await deliverTo(byLetter, [event('a1'), event('a-unfit'), event('a2')], () => ({}));
  expect(bodies).toEqual(['a1', 'a2']);
  expect(delivered.attempts[1]).toEqual({ outcome: { kind: 'reject', reason: 'has no use' } });
});

test('deliver: rows: a destination that postpones every row counts as not up', async () => {
  const rows: OfferedDestination = {
    order: 'none',
    batchEventsMax: 10,
    buildRequest: byLetter.buildRequest,
    readAnswer: ({ body }) => body.split(',').map((kind) => (kind === 'ok' ? { kind: 'delivered' } : later)),
  };
  const later = { kind: 'retry', reason: 'later' } as const;
  const two = [event('1'), event('2')];
  expect((await deliverTo(rows, two, () => ({ body: 'ok,no' }))).delivered.isUp).toBe(true);
  expect((await deliverTo(rows, two, () => ({ body: 'no,no' }))).delivered.isUp).toBe(false);
  expect((await deliverTo(rows, two, () => ({ body: 'ok' }))).kinds).toEqual(['delivered', 'delivered']);
});

test.each([
  ['a part of the rows', 'ok,no', true],
  ['every row', 'no,no', false],
])('deliver: rows: a destination that answers 200 but throttles %s counts as overloaded', async (_what, body, isUp) => {
  const throttled = { kind: 'retry', reason: 'later', isThrottled: true } as const;
  const rows: OfferedDestination = {
    order: 'none',
    batchEventsMax: 10,
    buildRequest: byLetter.buildRequest,
    readAnswer: (answer) => answer.body.split(',').map((kind) => (kind === 'ok' ? { kind: 'delivered' } : throttled)),
  };
  const { delivered } = await deliverTo(rows, [event('1'), event('2')], () => ({ body }));
  expect(delivered).toMatchObject({ isUp, isOverloaded: true });
});

/** A kind whose 429 names the ids of throttled events, so that the others may be sent again. */
const namingThrottled: OfferedDestination = {
  order: 'visitor',
  batchEventsMax: 100,
  buildRequest: byLetter.buildRequest,
  readAnswer({ status, body }, events) {
    if (status !== 429) return undefined;
    return events.map(({ resolved }) =>
      body.split(',').includes(resolved.event.id)
        ? { kind: 'retry', reason: 'throttled', afterMs: 30_000 }
        : { kind: 'retry', reason: 'status 429', unnamed: 'some' },
    );
  },
};
const throttling =
  (...ids: readonly string[]) =>
  (body: string) => {
    const named = body.split(',').filter((id) => ids.includes(id));
    return named.length === 0 ? {} : { status: 429, body: named.join() };
  };

test('deliver: a 429 that names events: these wait, the others are sent again at once, and the destination is up', async () => {
  const { bodies, delivered, kinds } = await deliverTo(namingThrottled, many(4), throttling('a1', 'a2'));
  expect(bodies).toEqual(['a0,a1,a2,a3', 'a0,a3']);
  expect(kinds).toEqual(['delivered', 'retry', 'retry', 'delivered']);
  expect(delivered.attempts[1]?.outcome).toMatchObject({ afterMs: 30_000 });
  expect(delivered.attempts[1]?.request).toMatchObject({ status: 429 });
  expect(delivered).toMatchObject({ requests: 2, isUp: true, isOverloaded: false });
});

test('deliver: a 429 that names every event: the destination is not overloaded, so others are sent as fast as before', async () => {
  const { bodies, delivered, kinds } = await deliverTo(namingThrottled, many(2), throttling('a0', 'a1'));
  expect({ bodies, kinds }).toEqual({ bodies: ['a0,a1'], kinds: ['retry', 'retry'] });
  expect(delivered).toMatchObject({ isUp: false, isOverloaded: false });
});

test('deliver: order visitor: an event after one that a 429 names is not sent again', async () => {
  const visitorOf = (i: number): string => (i === 3 ? 'w' : 'v');
  const { bodies, kinds } = await deliverTo(namingThrottled, many(4, visitorOf), throttling('a1'));
  expect(bodies).toEqual(['a0,a1,a2,a3', 'a0,a3']);
  expect(kinds).toEqual(['delivered', 'retry', undefined, 'delivered']);
  const unordered = await deliverTo({ ...namingThrottled, order: 'none' }, many(4, visitorOf), throttling('a1'));
  expect(unordered.kinds).toEqual(['delivered', 'retry', 'delivered', 'delivered']);
});

test('deliver: groups: a key that is refused for one group only is not refused, so the destination is not paused', async () => {
  const refusing = (letters: string) => (body: string) => ({ status: letters.includes(body.charAt(0)) ? 403 : 200 });
  const some = await deliverTo(byLetter, [event('a1'), event('b1')], refusing('b'));
  expect(some.kinds).toEqual(['delivered', 'retry']);
  expect(some.delivered).toMatchObject({ isUp: true, isAccessRefused: false });
  const all = await deliverTo(byLetter, [event('a1'), event('b1')], refusing('ab'));
  expect(all.delivered).toMatchObject({ isUp: false, isAccessRefused: true });
  const other = await deliverTo(byLetter, [event('a1'), event('b1'), event('c1')], (body) =>
    body === 'c1' ? { status: 503 } : refusing('b')(body),
  );
  expect(other.delivered).toMatchObject({ isUp: false, isAccessRefused: false });
});

/** A kind that reads its refusals from the body of a 200. */
const readingBodies: OfferedDestination = {
  order: 'none',
  batchEventsMax: 100,
  buildRequest: byLetter.buildRequest,
  readAnswer({ body }, events) {
    if (body === 'any') return events.map(() => ({ kind: 'reject', reason: 'code 7', unnamed: 'any' }));
    if (body === 'some') return events.map(() => ({ kind: 'reject', reason: 'code 8', unnamed: 'some' }));
    return undefined;
  },
};
const rejected = ({ attempts }: Awaited<ReturnType<typeof deliverTo>>['delivered']) =>
  attempts.flatMap((attempt, i) => (attempt?.outcome.kind === 'reject' ? [[i, attempt.outcome.reason]] : []));

test.each([
  ['any', 'code 7'],
  ['some', 'code 8'],
])(
  'deliver: a 200 that refuses %s of its events without naming them: only the event at fault is refused',
  async (said, reason) => {
    const { delivered, kinds } = await deliverTo(readingBodies, many(100), (body) =>
      body.split(',').includes('a70') ? { body: said } : {},
    );
    expect(rejected(delivered)).toEqual([[70, reason]]);
    expect(kinds.filter((kind) => kind === 'delivered')).toHaveLength(99);
    expect(delivered.isUp).toBe(true);
  },
);

test('deliver: a 200 that refuses every event alike: after three events tried alone, all events get that outcome', async () => {
  const { bodies, delivered } = await deliverTo(readingBodies, many(100), () => ({ body: 'any' }));
  expect(bodies.slice(1)).toEqual(['a0', 'a50', 'a99']);
  expect(rejected(delivered)).toHaveLength(100);
});

test('deliver: a 200 that accepts others of its events: no event is refused because three others are', async () => {
  const { delivered } = await deliverTo(readingBodies, many(20), (body) =>
    ['a0', 'a10', 'a19'].some((bad) => body.split(',').includes(bad)) ? { body: 'some' } : {},
  );
  expect(rejected(delivered).map(([i]) => i)).toEqual([0, 10, 19]);
});

test('deliver: a cut body of a 200: the status does not decide, and the events are sent in smaller requests', async () => {
  const cutOver = (most: number) => (body: string) => ({
    ...(body.split(',').length > most ? { isCut: true } : {}),
    ...(body === 'a1' ? { body: 'any' } : {}),
  });
  const some = await deliverTo(readingBodies, many(4), cutOver(1));
  expect(some.kinds).toEqual(['delivered', 'reject', 'delivered', 'delivered']);
  const none = await deliverTo(readingBodies, many(100), () => ({ isCut: true }));
  expect(new Set(none.kinds)).toEqual(new Set(['retry']));
  expect(none.bodies).toHaveLength(4);
  const byStatus = await deliverTo(byLetter, many(4), cutOver(1));
  expect(byStatus).toMatchObject({ kinds: many(4).map(() => 'delivered'), bodies: ['a0,a1,a2,a3'] });
});

test('deliver: order visitor: an event behind one that will be retried is not sent in a later request', async () => {
  const ordered = { ...byLetter, order: 'visitor' } as const;
  const events = [event('a1', 'v'), event('b1', 'v'), event('b2', 'w'), event('a2', 'v'), event('c1', 'w')];
  const later = (body: string) => ({ status: body.startsWith('a1') ? 503 : 200 });
  const { bodies, kinds } = await deliverTo(ordered, events, later);
  expect(bodies).toEqual(['a1', 'b2', 'c1']);
  expect(kinds).toEqual(['retry', undefined, 'delivered', undefined, 'delivered']);
  const unordered = await deliverTo(byLetter, events, later);
  expect(unordered.kinds).toEqual(['retry', 'delivered', 'delivered', 'delivered', 'delivered']);
});

test('deliver: order visitor: an event behind a failed one is not sent in the second half of a split request', async () => {
  const ordered = { ...byLetter, order: 'visitor' } as const;
  const events = [event('a1', 'v'), event('a2', 'w'), event('a3', 'v'), event('a4', 'w')];
  const { bodies, kinds } = await deliverTo(ordered, events, (body) => ({
    status: body === 'a1,a2,a3,a4' ? 400 : body === 'a1,a2' ? 429 : 200,
  }));
  expect(bodies).toEqual(['a1,a2,a3,a4', 'a1,a2']);
  expect(kinds).toEqual(['retry', 'retry', undefined, undefined]);
});

const many = (count: number, visitorOf = (i: number) => `v${i}`) =>
  Array.from({ length: count }, (_, i) => event(`a${i}`, visitorOf(i)));
const refusal = (code: number): string => JSON.stringify({ error: { code, fbtrace_id: Math.random() } });

test('deliver: refused request of many events: after three events tried alone get the same outcome, all events get it', async () => {
  const { bodies, delivered } = await deliverTo(byLetter, many(1_000), () => ({ status: 400, body: refusal(100) }));
  expect(bodies.slice(1)).toEqual(['a0', 'a500', 'a999']);
  expect(delivered).toMatchObject({ requests: 4, isUp: true });
  expect(new Set(delivered.attempts.map((attempt) => attempt?.outcome.kind))).toEqual(new Set(['reject']));
});

test.each([0, 1, 500, 998, 999])(
  'deliver: refused request of many events: if only event %i is at fault, only that event is refused',
  async (culprit) => {
    const { bodies, delivered, kinds } = await deliverTo(byLetter, many(1_000), (body) =>
      body.split(',').includes(`a${culprit}`) ? { status: 400, body: refusal(100) } : {},
    );
    expect(kinds.flatMap((kind, i) => (kind === 'delivered' ? [] : [[i, kind]]))).toEqual([[culprit, 'reject']]);
    expect(delivered.requests).toBeLessThan(30);
    const singles = bodies.slice(1).flatMap((body) => (body.includes(',') ? [] : [body]));
    expect(new Set(singles).size).toBe(singles.length);
  },
);

test('deliver: refused request of many events: single events refused for another reason: the search goes on', async () => {
  const { kinds } = await deliverTo(byLetter, many(20), (body) => {
    if (body === 'a19') return {};
    return { status: 400, body: refusal(body.includes(',') ? 1_234 : 100) };
  });
  expect(kinds.filter((kind) => kind === 'delivered')).toHaveLength(1);
});

test('deliver: refused request of many events: a request that is too large is halved, and no event is tried alone', async () => {
  const { bodies } = await deliverTo(byLetter, many(20), (body) => ({
    status: body.split(',').length > 10 ? 413 : 200,
  }));
  expect(bodies.map((body) => body.split(',').length)).toEqual([20, 10, 10]);
});

test('deliver: refused request of many events: order visitor: no event is tried before an earlier one of its visitor', async () => {
  const ordered = { ...byLetter, order: 'visitor' } as const;
  const two = many(20, (i) => (i % 2 === 0 ? 'even' : 'odd'));
  const { bodies } = await deliverTo(ordered, two, (body) => (body.includes(',') ? { status: 400, body: 'no' } : {}));
  const sentAlone = bodies.filter((body) => !body.includes(',')).map((body) => Number(body.slice(1)));
  for (const rest of [0, 1]) {
    const own = sentAlone.filter((i) => i % 2 === rest);
    expect(own).toEqual(own.toSorted((a, b) => a - b));
  }
  expect(sentAlone).toHaveLength(20);
});

test.each([
  [401, true],
  [403, true],
  [400, false],
])('deliver: refused request of many events: %i: is the key refused: %s', async (status, isAccessRefused) => {
  const { bodies, delivered } = await deliverTo(byLetter, [event('a1')], () => ({ status }));
  expect(delivered).toMatchObject({ isUp: !isAccessRefused, isAccessRefused });
  expect(bodies).toHaveLength(1);
});

test('split groups: a visitor with events of two groups keeps the order of the events', () => {
  const events = [event('a1', 'v'), event('b1', 'v'), event('a2', 'v'), event('a3', 'w')];
  expect(splitGroups(firstLetter, events)).toEqual([[0], [1], [2, 3]]);
});

test('split groups: property: every event is sent once, each request has one group, and each visitor’s events are in order', () => {
  const some = fc.record({ group: fc.constantFrom('a', 'b', 'c'), visitor: fc.constantFrom('u', 'v', 'w', 'x') });
  fc.assert(
    fc.property(fc.array(some, { maxLength: 40 }), (all) => {
      const events = all.map(({ group, visitor }, i) => event(`${group}${i}`, visitor));
      const requests = splitGroups(firstLetter, events);
      const sent = requests.flat();
      expect(sent.toSorted((a, b) => a - b)).toEqual(events.map((_, i) => i));
      for (const request of requests) expect(new Set(request.map((i) => all[i]?.group)).size).toBeLessThanOrEqual(1);
      for (const visitor of ['u', 'v', 'w', 'x']) {
        const own = sent.filter((i) => all[i]?.visitor === visitor);
        expect(own).toEqual(own.toSorted((a, b) => a - b));
      }
    }),
  );
});

test('deliver: once a batch is no longer live, no further part of a split request is sent', async () => {
  let isLive = true;
  const { bodies, delivered, kinds } = await deliverTo(
    byLetter,
    many(4),
    (body) => {
      isLive = body.includes(',');
      return { status: body.length > 2 ? 400 : 200 };
    },
    () => isLive,
  );
  expect(bodies).toEqual(['a0,a1,a2,a3', 'a0,a1', 'a0']);
  expect(kinds).toEqual(['delivered', undefined, undefined, undefined]);
  expect(delivered.requests).toBe(3);
});

test('deliver: groups: once a batch is no longer live, its later groups are not sent', async () => {
  let requests = 0;
  const isLive = (): boolean => requests < 1;
  const { bodies, kinds } = await deliverTo(
    byLetter,
    [event('a1'), event('b1')],
    () => {
      requests += 1;
      return {};
    },
    isLive,
  );
  expect({ bodies, kinds }).toEqual({ bodies: ['a1'], kinds: ['delivered', undefined] });
});

test('deliver: a withdrawn request counts as no attempt and as no request', async () => {
  const withdrawn = { kind: 'failed', failure: 'withdrawn', reason: 'WITHDRAWN', permanent: false } as const;
  const sender = { send: async () => withdrawn, close: async () => undefined };
  const delivered = await deliver(byLetter, sender, many(2));
  expect(delivered).toMatchObject({ attempts: [undefined, undefined], requests: 0 });
});
