import fc from 'fast-check';
import { expect, test } from 'vitest';
import { judgeWait } from './judge-wait.ts';
import type { WaitJudgement } from './judge-wait.ts';

const maxMs = 100;
const judge = (ages: readonly (number | undefined)[]): (WaitJudgement | undefined)[] => {
  let known: WaitJudgement | undefined;
  return ages.map((ageMs) => (known = judgeWait(known, ageMs, maxMs)));
};
const kinds = (...ages: (number | undefined)[]) => judge(ages).map((one) => one?.kind);

test('judge wait: a reader is late once its oldest event waits too long, and in time as soon as it does not', () => {
  expect(kinds(0, 100, 101, 300, 101, 100)).toEqual(['in time', 'in time', 'late', 'late', 'late', 'in time']);
});

test('judge wait: a reader that catches up after its destination could not be reached is not late', () => {
  expect(kinds(50, undefined, 5_000, 4_000, 4_100, 90, 110)).toEqual([
    'in time',
    undefined,
    'catching up',
    'catching up',
    'catching up',
    'in time',
    'late',
  ]);
});

test('judge wait: a reader whose lag grows while it catches up is late until it is in time', () => {
  expect(kinds(5_000, 4_000, 4_101, 3_000, 100)).toEqual(['catching up', 'catching up', 'late', 'late', 'in time']);
});

test('judge wait: property: no reader within the limit is late, and a lag that grows by more than the limit is always late', () => {
  const waits = fc.array(fc.option(fc.nat(1_000), { nil: undefined }), { minLength: 1 });
  fc.assert(
    fc.property(waits, (ages) => {
      let leastMs: number | undefined;
      for (const [index, judgement] of judge(ages).entries()) {
        const ageMs = ages[index];
        leastMs = ageMs === undefined ? undefined : Math.min(leastMs ?? ageMs, ageMs);
        expect(judgement === undefined).toBe(ageMs === undefined);
        if (ageMs === undefined || leastMs === undefined) continue;
        expect(judgement?.kind === 'in time').toBe(ageMs <= maxMs);
        if (ageMs > leastMs + maxMs) expect(judgement?.kind).toBe('late');
      }
    }),
  );
});
