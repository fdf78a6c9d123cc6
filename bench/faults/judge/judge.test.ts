import fc from 'fast-check';
import { expect, test } from 'vitest';
import { judge } from './judge.ts';
import type { Arrival, Delivered, Evidence } from './judge.ts';
import { Ledger } from './ledger.ts';

/**
 * Events of several visitors. Each visitor's events are answered one after the other, 10 ms apart; a request takes 2
 * ms.
 */
function ledgerOf(visitors: number, numbers: number, except: readonly string[] = []): Ledger {
  const ledger = new Ledger();
  for (let visitor = 1; visitor <= visitors; visitor += 1) {
    for (let number = 1; number <= numbers; number += 1) {
      const entry = ledger.sent(visitor, number, number * 10);
      if (!except.includes(`${visitor}/${number}`)) ledger.acknowledged([entry], number * 10, number * 10 + 2);
    }
  }
  return ledger;
}

function arrival(name: string, own: Partial<Arrival> = {}): Arrival {
  const [visitor = '', number = ''] = name.split('/');
  return {
    visitor: Number(visitor),
    number: Number(number),
    key: `key ${name}`,
    atMs: 1_000,
    event: '',
    person: '',
    ...own,
  };
}

const evidence = (ledger: Ledger, arrivals: readonly Arrival[], own: Partial<Evidence> = {}): Evidence => ({
  entries: ledger.entries,
  refusals: ledger.refusals,
  answers: ledger.answers,
  arrivals: { there: arrivals },
  overMs: 0,
  stoppedMs: ledger.answers.at(-1)?.atMs ?? 0,
  ...own,
});

function judgeOne(ledger: Ledger, names: readonly (string | Arrival)[], own: Partial<Evidence> = {}): Delivered {
  const arrivals = names.map((name) => (typeof name === 'string' ? arrival(name) : name));
  const judged = judge(evidence(ledger, arrivals, own)).destinations['there'];
  if (judged === undefined) throw new Error('nothing was judged');
  return judged;
}

const clean = { lost: 0, destroyed: 0, repeated: 0, doubled: 0, disordered: 0, invented: 0, mixed: 0 };

test('judge: a run in which every event arrives once and in order is clean', () => {
  expect(judgeOne(ledgerOf(1, 3), ['1/1', '1/2', '1/3'])).toMatchObject({ ...clean, delivered: 3 });
});

test('judge: an acknowledged event that never arrives is lost, and its id is reported', () => {
  expect(judgeOne(ledgerOf(1, 3), ['1/1', '1/3'])).toMatchObject({
    ...clean,
    delivered: 2,
    lost: 1,
    examples: { lost: ['1/2'] },
  });
});

test('judge: an event that reached one of two destinations is still lost at the other destination', () => {
  const ledger = ledgerOf(1, 1);
  const { destinations } = judge(evidence(ledger, [], { arrivals: { one: [arrival('1/1')], other: [] } }));
  expect(destinations).toMatchObject({ one: { lost: 0 }, other: { lost: 1 } });
});

test('judge: an event that was not acknowledged may arrive or not', () => {
  const ledger = ledgerOf(1, 3, ['1/2']);
  expect(judgeOne(ledger, ['1/1', '1/3'])).toMatchObject({ ...clean, delivered: 2 });
  expect(judgeOne(ledger, ['1/1', '1/3', '1/2'])).toMatchObject({ ...clean, delivered: 2 });
});

test('judge: a second delivery with the same key is a repeat, a second delivery with another key is a double', () => {
  expect(judgeOne(ledgerOf(1, 1), ['1/1', '1/1', '1/1'])).toMatchObject({ ...clean, repeated: 2 });
  expect(judgeOne(ledgerOf(1, 1), ['1/1', arrival('1/1', { key: 'another' })])).toMatchObject({
    ...clean,
    doubled: 1,
  });
});

test('judge: a double under a new key counts even if the event was not acknowledged', () => {
  const ledger = ledgerOf(1, 1, ['1/1']);
  expect(judgeOne(ledger, ['1/1', arrival('1/1', { key: 'another' })])).toMatchObject({ doubled: 1 });
});

test('judge: an event that arrives after a later event of its visitor is disordered, unless it is a repeat', () => {
  expect(judgeOne(ledgerOf(1, 4), ['1/1', '1/4', '1/2', '1/3'])).toMatchObject({
    disordered: 2,
    examples: { disordered: ['1/2', '1/3'] },
  });
  expect(judgeOne(ledgerOf(1, 3), ['1/1', '1/2', '1/1', '1/3', '1/2'])).toMatchObject({
    disordered: 0,
    repeated: 2,
  });
});

test('judge: events of different visitors need no order', () => {
  expect(judgeOne(ledgerOf(2, 2), ['2/1', '2/2', '1/1', '1/2'])).toMatchObject(clean);
});

test('judge: the expected order is the order of the answers, even if a batch row was accepted only at the second try', () => {
  const ledger = new Ledger();
  const [first, second] = [ledger.sent(1, 1, 0), ledger.sent(1, 2, 0)];
  ledger.acknowledged([second], 10, 12);
  ledger.acknowledged([first], 20, 22);
  expect(judgeOne(ledger, ['1/2', '1/1'])).toMatchObject(clean);
  expect(judgeOne(ledger, ['1/1', '1/2'])).toMatchObject({ disordered: 1 });
});

test('judge: an event that no visitor sent is reported', () => {
  expect(judgeOne(ledgerOf(1, 1), ['1/1', '1/7'])).toMatchObject({ invented: 1 });
});

test('judge: an event sent before a fault destroyed data may be missing, an event sent later may not', () => {
  const own = { mayMissUntilMs: 20 };
  expect(judgeOne(ledgerOf(1, 3), ['1/2', '1/3'], own)).toMatchObject({ lost: 0, destroyed: 1 });
  expect(judgeOne(ledgerOf(1, 3), ['1/1', '1/2'], own)).toMatchObject({ lost: 1, destroyed: 0 });
  // The first event was sent before the destruction and answered after it.
  expect(judgeOne(ledgerOf(1, 3), ['1/2', '1/3'], { mayMissUntilMs: 11 })).toMatchObject({ lost: 0, destroyed: 1 });
});

test('judge: recovery is measured from the end of the fault, with the events sent after that end', () => {
  // The events of both visitors are answered at 12, 22 and 32 ms.
  const ledger = ledgerOf(2, 3);
  const arrivals = [
    arrival('1/1', { atMs: 16 }),
    arrival('1/2', { atMs: 60 }),
    arrival('1/3', { atMs: 61 }),
    arrival('2/1', { atMs: 62 }),
    arrival('2/2', { atMs: 95 }),
    arrival('2/3', { atMs: 99 }),
  ];
  expect(judge(evidence(ledger, arrivals, { overMs: 15 }))).toMatchObject({
    firstAcknowledgementMs: 7,
    firstDeliveryMs: 45,
    everyVisitorMs: 80,
    longestSilenceMs: 10,
    delayMs: { p99: 75 },
  });
});

test('judge: the recovery time is that of the slowest destination', () => {
  const took = { one: [arrival('1/1', { atMs: 40 })], other: [arrival('1/1', { atMs: 70 })] };
  const verdict = judge(evidence(ledgerOf(1, 1), [], { arrivals: took }));
  expect(verdict).toMatchObject({ firstDeliveryMs: 70, everyVisitorMs: 70 });
});

test('judge: an event sent before the fault but answered after it does not count as a sign of recovery', () => {
  const ledger = new Ledger();
  ledger.acknowledged([ledger.sent(1, 1, 5)], 30, 32);
  const verdict = judge(evidence(ledger, [arrival('1/1', { atMs: 12 })], { overMs: 10 }));
  expect(verdict).toMatchObject({ firstAcknowledgementMs: 22, firstDeliveryMs: Number.NaN, delayMs: { p99: 0 } });
});

test('judge: if nothing recovers, the recovery figures are NaN and not 0', () => {
  const verdict = judge(evidence(ledgerOf(1, 1), [arrival('1/1')], { overMs: 50 }));
  expect(verdict).toMatchObject({
    firstAcknowledgementMs: Number.NaN,
    firstDeliveryMs: Number.NaN,
    everyVisitorMs: Number.NaN,
  });
  const undelivered = judge(evidence(ledgerOf(2, 1), [arrival('1/1')]));
  expect(undelivered.everyVisitorMs).toBeNaN();
});

test('judge: a silence that lasts until the visitors stop sending is counted', () => {
  const ledger = ledgerOf(1, 3);
  expect(judge(evidence(ledger, [])).longestSilenceMs).toBe(10);
  expect(judge(evidence(ledger, [], { stoppedMs: 532 })).longestSilenceMs).toBe(500);
});

test('judge: refusals are counted by status or error code', () => {
  const ledger = ledgerOf(1, 1);
  ledger.refused('503', 1);
  ledger.refused('503', 2);
  ledger.refused('ECONNREFUSED', 3);
  expect(judge(evidence(ledger, [])).refused).toEqual({ '503': 2, ECONNREFUSED: 1 });
});

test('judge: if deliveries are removed at random, exactly the removed ones are lost', () => {
  const events = fc.array(fc.record({ visitor: fc.integer({ min: 1, max: 4 }), isKept: fc.boolean() }), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(events, (drawn) => {
      const ledger = new Ledger();
      const kept: Arrival[] = [];
      let dropped = 0;
      for (const [index, { visitor, isKept }] of drawn.entries()) {
        const entry = ledger.sent(visitor, index, index);
        ledger.acknowledged([entry], index, index);
        if (isKept) kept.push(arrival(`${visitor}/${index}`));
        else dropped += 1;
      }
      expect(judgeOne(ledger, kept)).toMatchObject({ ...clean, lost: dropped, delivered: kept.length });
    }),
  );
});

test('judge: wrong or missing properties of the event or person are found in first deliveries and in repeats', () => {
  const ledger = new Ledger();
  const marked = (saysPerson: boolean) => ({ event: 'e', person: 'p', saysPerson });
  ledger.acknowledged([ledger.sent(1, 1, 10, marked(true)), ledger.sent(1, 2, 10, marked(false))], 10, 12);
  const own = { event: 'e', person: 'p' };
  expect(judgeOne(ledger, [arrival('1/1', own), arrival('1/2', own)])).toMatchObject(clean);
  // A delivery has no marks of the person if no earlier event had set any.
  expect(judgeOne(ledger, [arrival('1/1', own), arrival('1/2', { ...own, person: '' })])).toMatchObject(clean);
  for (const wrong of [{ person: 'another' }, { person: '' }, { event: 'another' }, { event: '' }]) {
    const found = judgeOne(ledger, [arrival('1/1', { ...own, ...wrong }), arrival('1/2', own)]);
    expect(found).toMatchObject({ ...clean, mixed: 1, examples: { mixed: ['1/1'] } });
    const again = judgeOne(ledger, [arrival('1/1', own), arrival('1/1', { ...own, ...wrong }), arrival('1/2', own)]);
    expect(again).toMatchObject({ mixed: 1, repeated: 1 });
  }
});

test('judge: deliveries to a stopped destination count if later than a second after the stop was live', () => {
  const times = [500, 1_500, 2_000, 2_001, 9_000];
  const arrivals = times.map((atMs) => arrival('1/1', { atMs }));
  expect(judge(evidence(ledgerOf(1, 1), [arrival('1/1')], { stops: [{ liveMs: 1_000, arrivals }] }))).toMatchObject({
    afterStop: 2,
    destinations: { there: clean },
  });
});

test('judge: deliveries of an erased visitor’s events count only if later than a second after the answer', () => {
  const arrivals = [900, 1_900, 2_001].map((atMs) => arrival('7/1', { atMs }));
  const erasures = [
    { visitor: 7, erasedMs: 1_000, arrivals: [arrival('7/2', { atMs: 5_000 }), arrival('1/1', { atMs: 5_000 })] },
  ];
  const verdict = judge(evidence(ledgerOf(1, 1), [arrival('1/1'), ...arrivals], { erasures }));
  expect(verdict).toMatchObject({ afterErasure: 2, destinations: { there: clean } });
});

test('judge: deliveries for a withdrawn purpose count only if later than a second after the withdrawal was live', () => {
  const times = [900, 1_900, 2_000, 2_001, 9_000];
  const took = [...times.map((atMs) => arrival('7/1', { atMs })), arrival('1/1', { atMs: 5_000 })];
  const withdrawals = [{ visitor: 7, liveMs: 1_000, arrivals: took }];
  // Other destinations receive an event of the withdrawn visitor and one of visitor 8; the ledger has neither event.
  const elsewhere = arrival('7/2', { atMs: 5_000 });
  const verdict = judge(
    evidence(ledgerOf(1, 1), [arrival('1/1'), elsewhere, arrival('8/1')], { withdrawals, others: [8] }),
  );
  expect(verdict).toMatchObject({ afterWithdrawal: 2, destinations: { there: clean } });
});
