import { expect, test, vi } from 'vitest';
import { TroubleReports } from './consumer-trouble.ts';
import type { ConsumerTrouble } from './consumer-trouble.ts';
import { ConsumerTakenError } from './consumers.ts';
import type { OwnedConsumer } from './consumers.ts';
import { Rewinds } from './rewinds.ts';
import { RunState } from './run-state.ts';
import { TakenMessages } from './taken-messages.ts';

const owned = (change: Partial<OwnedConsumer> = {}): OwnedConsumer => ({
  group: 'g',
  isNew: false,
  ackedSeq: 0,
  ackedAtMs: 0,
  handedOutSeq: 0,
  wasUnfinished: false,
  nextConsumerSeq: 1,
  unfinished: 0,
  ...change,
});

/** Rewinds whose requests the test answers, in their order. */
function open() {
  const requests: { readonly upTo?: number; answer(made: OwnedConsumer): void; fail(error: Error): void }[] = [];
  const asked = (upTo?: number): Promise<OwnedConsumer> =>
    new Promise((answer, fail) => requests.push({ ...(upTo !== undefined && { upTo }), answer, fail }));
  const troubles: ConsumerTrouble[] = [];
  const ends: string[] = [];
  const state = new RunState(() => ends.push('ended'));
  const connection = { is: true, looks: 0 };
  const rewinds = new Rewinds({
    control: { rewind: () => asked(), skip: (_, upTo) => asked(upTo) },
    taken: new TakenMessages(0, 0),
    state,
    trouble: new TroubleReports((trouble) => troubles.push(trouble)),
    nextConsumerSeq: 5,
    isConnected: () => {
      connection.looks += 1;
      return connection.is;
    },
    onSkipped: () => undefined,
    onRewound: () => ends.push('rewound'),
  });
  return {
    rewinds,
    state,
    troubles,
    ends,
    requests,
    request: (at: number) => vi.waitUntil(() => requests[at]),
    connection,
  };
}

test('rewinds: a rewind wanted during another follows it, and messages are requested once, after both', async () => {
  const { rewinds, ends, request, requests } = open();
  rewinds.want();
  rewinds.start(0);
  const first = await request(0);
  rewinds.want();
  rewinds.start(0);
  expect(requests).toHaveLength(1);
  first.answer(owned({ nextConsumerSeq: 7 }));
  const second = await request(1);
  expect([rewinds.isPending, ends]).toEqual([true, []]);
  second.answer(owned({ nextConsumerSeq: 20 }));
  await vi.waitUntil(() => !rewinds.isPending);
  expect(ends).toEqual(['rewound']);
  // `consumerSeq` counts from the last rewind, and a message after a gap is not the next one.
  expect([7, 21, 20, 20, 21].map((seq) => rewinds.isNext(seq))).toEqual([false, false, true, false, true]);
});

test('rewinds: a failed rewind is reported and repeated; without a connection it is repeated at the next start', async () => {
  const { rewinds, ends, request, troubles, requests, connection } = open();
  rewinds.want();
  rewinds.start(0);
  (await request(0)).fail(new Error('no answer'));
  await vi.waitUntil(() => troubles.length > 0);
  expect(troubles).toMatchObject([{ kind: 'failed', error: { message: 'no answer' }, lastsMs: 0 }]);
  connection.is = false;
  await vi.waitUntil(() => connection.looks === 2);
  expect([requests.length, rewinds.isPending, ends]).toEqual([1, true, []]);
  connection.is = true;
  rewinds.start(0);
  (await request(1)).answer(owned({ isNew: true }));
  await vi.waitUntil(() => !rewinds.isPending);
  expect([ends, troubles.at(-1)]).toEqual([['rewound'], { kind: 'recreated' }]);
});

test('rewinds: a skip that is called during the request of another skip is left to the next rewind', async () => {
  const { rewinds, request } = open();
  const first = rewinds.skipTo(10);
  rewinds.want();
  rewinds.start(0);
  (await request(0)).answer(owned({ unfinished: 30 }));
  const skip = await request(1);
  const second = rewinds.skipTo(20);
  rewinds.want();
  expect([skip.upTo, await first]).toEqual([10, 0]);
  skip.answer(owned({ ackedSeq: 10, unfinished: 20 }));
  (await request(2)).answer(owned({ ackedSeq: 10, unfinished: 20 }));
  const next = await request(3);
  expect(next.upTo).toBe(20);
  next.answer(owned({ ackedSeq: 20, unfinished: 10 }));
  expect(await second).toBe(10);
});

test('rewinds: if its consumer was taken over, a reader ends and requests no messages', async () => {
  const { rewinds, state, ends, request } = open();
  rewinds.want();
  rewinds.start(0);
  const taken = new ConsumerTakenError('taken over');
  (await request(0)).fail(taken);
  await vi.waitUntil(() => !rewinds.isPending);
  expect([state.takenOver, ends]).toEqual([taken, ['ended']]);
});
