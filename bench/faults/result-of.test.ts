import { expect, test } from 'vitest';
import type { Delivered, Verdict } from './judge/judge.ts';
import { describeOutcome, faultBars, faultsOf, resultOf } from './result-of.ts';
import { isBarMet } from '../result/result.ts';
import type { FaultOutcome, FaultRun } from './run-fault.ts';

const options = { seconds: 1, ratePerS: 10, seed: 1, isKept: false, previous: undefined };

const delivered = (own: Partial<Delivered> = {}): Delivered => ({
  delivered: 100,
  lost: 0,
  destroyed: 0,
  repeated: 0,
  doubled: 0,
  disordered: 0,
  invented: 0,
  mixed: 0,
  examples: { lost: [], disordered: [], mixed: [] },
  ...own,
});

function ran(troubled: Partial<Delivered>, own: Partial<Verdict> = {}, run: Partial<FaultRun> = {}): FaultOutcome {
  const verdict: Verdict = {
    sent: 100,
    acknowledged: 100,
    destinations: { steady: delivered(), troubled: delivered(troubled) },
    refused: {},
    afterStop: 0,
    afterErasure: 0,
    afterWithdrawal: 0,
    longestSilenceMs: 10,
    firstAcknowledgementMs: 20,
    firstDeliveryMs: 30,
    everyVisitorMs: 40,
    delayMs: { p50: 5, p99: 9 },
    ...own,
  };
  return {
    kind: 'ran',
    run: { verdict, faultMs: 1, drainMs: 2, stuck: 0, peakMemoryBytes: 3, problem: undefined, remarks: [], ...run },
  };
}

const unmet = (outcome: FaultOutcome): string[] => {
  const { measured } = resultOf([{ name: 'one', outcome }], options);
  return faultBars.filter((bar) => !isBarMet(bar, measured[bar.id] ?? Number.NaN)).map(({ id }) => id);
};

test('fault results: a run without loss, doubles or disorder passes, whatever was refused or repeated', () => {
  const outcome = ran({ repeated: 30, destroyed: 2 }, { refused: { '503': 7 } });
  expect(faultsOf(outcome)).toEqual([]);
  expect(unmet(outcome)).toEqual([]);
  expect(describeOutcome(outcome)).toMatch(
    /^✓ 100 acknowledged, 100 delivered, 0 lost, 30 repeated.* 7 refused; after the fault first 200 20\.0 ms.*at most 3 B/,
  );
});

test.each([
  ['lost', { lost: 1 }, '1 lost'],
  ['doubled', { doubled: 2 }, '2 doubled under another key'],
  ['disordered', { disordered: 3 }, '3 out of order'],
  ['invented', { invented: 4 }, '4 that no visitor sent'],
  ['mixed', { mixed: 5 }, '5 with properties of another event, or incomplete'],
])('fault results: %s at one of two destinations breaks a promise', (bar, counts, words) => {
  const outcome = ran(counts);
  expect(faultsOf(outcome)).toEqual([words]);
  expect(unmet(outcome)).toEqual([bar, 'broken']);
  expect(describeOutcome(outcome)).toMatch(/^✗/);
});

test.each([
  ['afterStop', '2 sent after their destination was stopped'],
  ['afterErasure', '2 sent after their person was erased'],
  ['afterWithdrawal', '2 sent for a purpose whose consent was withdrawn'],
])('fault results: %s breaks a promise', (bar, words) => {
  const outcome = ran({}, { [bar]: 2 });
  expect(faultsOf(outcome)).toEqual([words]);
  expect(unmet(outcome)).toEqual([bar, 'broken']);
});

test('fault results: a promise is broken if the stack accepts nothing more or is stuck, or if the fault reports a problem', () => {
  const outcome = ran({}, { firstAcknowledgementMs: Number.NaN }, { problem: 'no service says so' });
  expect(faultsOf(outcome)).toEqual(['nothing was acknowledged after the fault', 'no service says so']);
  expect(unmet(outcome)).toEqual(['broken']);
  expect(faultsOf(ran({}, {}, { stuck: 7 }))).toEqual(['7 arrived only after every process was killed and restarted']);
});

test('fault results: the row shows the worse of two destinations', () => {
  const outcome = ran({ delivered: 90, lost: 10 });
  const { rows, measured } = resultOf([{ name: 'one', outcome }], options);
  expect(rows[0]?.figures).toMatchObject({ delivered: { value: 90 }, lost: { value: 10 } });
  expect(measured).toMatchObject({ lost: 10, broken: 1 });
});

test('fault results: the row says what a run did not do or check, which breaks no promise', () => {
  const outcome = ran({}, {}, { remarks: ['no rollback: log format', 'withheld events not checked'] });
  expect(faultsOf(outcome)).toEqual([]);
  const { rows } = resultOf([{ name: 'one', outcome }], options);
  expect(rows[0]?.note).toBe('no rollback: log format; withheld events not checked');
});

test('fault results: a fault that could not be run is broken, a fault that was skipped is not measured', () => {
  const failed: FaultOutcome = { kind: 'failed', why: 'the log did not start' };
  expect(faultsOf(failed)).toEqual(['the log did not start']);
  const skipped: FaultOutcome = { kind: 'skipped', why: 'it takes root' };
  expect(faultsOf(skipped)).toEqual([]);
  const { rows, measured } = resultOf([{ name: 'one', outcome: skipped }], options);
  expect(measured).toEqual({});
  expect(rows[0]?.note).toBe('skipped: it takes root');
});
