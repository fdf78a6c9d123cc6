import { array, assert, constantFrom, integer, property, record, string } from 'fast-check';
import { expect, test } from 'vitest';
import type { AssignmentDecision, Assignments } from './assign.ts';
import { assign, personalizeVisitor } from './assign.ts';
import { allocationBucket } from './bucketing.ts';
import { OverBudgetError, Work } from '../routing/values/work.ts';
import { planForTests } from './testing/config-for-tests.ts';
import type { ExperimentPlan } from './experiment-plan.ts';

const nothing: Assignments = new Map();

function ask(
  plan: ExperimentPlan,
  visitorId: string,
  assignments: Assignments = nothing,
  rest: { trackImpression?: boolean; url?: string } = {},
): AssignmentDecision {
  const context = rest.url === undefined ? undefined : { url: rest.url };
  const trackImpression = rest.trackImpression ?? true;
  return assign(plan, { experimentKey: 'e', visitorId, trackImpression, context }, assignments);
}

const outcome = (decision: AssignmentDecision): string =>
  decision.assigned ? `${decision.origin} ${decision.variant.id}` : decision.reason;

test('assign: an unknown key is not assigned', () => {
  expect(ask(planForTests({ id: 'other' }), 'v')).toEqual({ assigned: false, reason: 'unknown' });
});

test('assign: a first assignment is to be stored, and its impression is due', () => {
  const decision = ask(planForTests({ id: 'e' }), 'v');
  if (!decision.assigned) throw new Error('the visitor should be assigned');
  expect(decision).toMatchObject({ origin: 'new', experiment: { id: 'e' }, impressionDue: true });
  expect(decision.store).toEqual({ experimentId: 'e', variantId: decision.variant.id });
});

test('assign: without tracking, an assignment is stored but no impression is due', () => {
  expect(ask(planForTests({ id: 'e' }), 'v', nothing, { trackImpression: false })).toMatchObject({
    store: { experimentId: 'e' },
    impressionDue: false,
  });
});

test('assign: a sticky assignment is kept, with nothing to store and an impression due', () => {
  for (const variantId of ['control', 'new']) {
    const decision = ask(planForTests({ id: 'e' }), 'v', new Map([['e', variantId]]));
    expect(decision).toMatchObject({ origin: 'sticky', variant: { id: variantId }, impressionDue: true });
    expect(decision).toHaveProperty('store', undefined);
  }
});

test('assign: a sticky assignment of another experiment is ignored', () => {
  const decision = ask(planForTests({ id: 'e', trafficAllocation: 0 }), 'v', new Map([['other', 'new']]));
  expect(outcome(decision)).toBe('outsideAllocation');
});

test('assign: a sticky variant that no longer exists is replaced by a new assignment', () => {
  expect(ask(planForTests({ id: 'e' }), 'v', new Map([['e', 'gone']]))).toMatchObject({ origin: 'new' });
});

test('assign: only visitors whose bucket is within the allocation take part', () => {
  const plan = planForTests({ id: 'e', trafficAllocation: 25 });
  for (let number = 0; number < 1_000; number += 1) {
    const visitorId = `v${String(number)}`;
    expect(ask(plan, visitorId).assigned).toBe(allocationBucket('e', visitorId) < 2_500);
  }
});

test('assign: a paused experiment keeps its visitors and accepts no new visitors', () => {
  const plan = planForTests({ id: 'e', status: 'Paused' });
  expect(outcome(ask(plan, 'v'))).toBe('paused');
  expect(outcome(ask(plan, 'v', new Map([['e', 'control']])))).toBe('sticky control');
});

test('assign: a completed experiment assigns no visitor', () => {
  const plan = planForTests({ id: 'e', status: 'Completed' });
  expect(outcome(ask(plan, 'v'))).toBe('completed');
  expect(outcome(ask(plan, 'v', new Map([['e', 'new']])))).toBe('completed');
});

test('assign: a rolled out variant goes to all visitors, despite assignments and allocation, and is not stored', () => {
  const plan = planForTests({ id: 'e', status: 'Completed', rolloutVariantId: 'new', trafficAllocation: 0 });
  for (const assignments of [nothing, new Map([['e', 'control']])]) {
    const decision = ask(plan, 'v', assignments);
    expect(outcome(decision)).toBe('rollout new');
    expect(decision).toMatchObject({ store: undefined, impressionDue: true });
  }
});

test('assign: on a page that is not eligible no visitor gets a variant, and a stored assignment applies again elsewhere', () => {
  const plan = planForTests({ id: 'e', urlPatterns: ['/pricing'] });
  const sticky = new Map([['e', 'control']]);
  expect(outcome(ask(plan, 'v', sticky, { url: 'https://example.com/about' }))).toBe('notEligible');
  expect(outcome(ask(plan, 'v', nothing, { url: 'https://example.com/about' }))).toBe('notEligible');
  expect(outcome(ask(plan, 'v', sticky, { url: 'https://example.com/pricing' }))).toBe('sticky control');
});

test('assign: a personalization applies even with an allocation of 0', () => {
  const plan = planForTests({ id: 'e', type: 'personalization', trafficAllocation: 0 });
  expect(ask(plan, 'v')).toMatchObject({ assigned: true, origin: 'new' });
});

// Variants as an operator may configure them: three variants get at most 99 percent together; the control gets the
// rest.
const weight = integer({ min: 0, max: 3_300 }).map((buckets) => buckets / 100);
const setting = record({
  trafficAllocation: integer({ min: 0, max: 10_000 }).map((buckets) => buckets / 100),
  status: constantFrom('Running', 'Paused'),
  variants: array(weight, { minLength: 3, maxLength: 3 }).map((weights) => [
    { id: 'control', name: 'Control', isControl: true, weight: null },
    ...weights.map((given, index) => ({ id: `v${String(index)}`, name: 'V', isControl: false, weight: given })),
  ]),
});
const visitorIds = string({ minLength: 1, maxLength: 40 });

test('assign: no change of weights or allocation, and no pause, changes an assigned visitor’s variant', () => {
  assert(
    property(setting, array(setting, { minLength: 1, maxLength: 5 }), visitorIds, (before, changes, visitorId) => {
      const first = ask(planForTests({ id: 'e', ...before, status: 'Running' }), visitorId);
      if (!first.assigned || first.store === undefined) return;
      const stored = new Map([[first.store.experimentId, first.store.variantId]]);
      for (const change of changes) {
        expect(outcome(ask(planForTests({ id: 'e', ...change }), visitorId, stored))).toBe(
          `sticky ${first.variant.id}`,
        );
      }
    }),
    { numRuns: 300 },
  );
});

test('assign: a visitor has the same variant, whatever the order of the variants', () => {
  assert(
    property(setting, visitorIds, (given, visitorId) => {
      const reversed = { ...given, variants: given.variants.toReversed() };
      const answer = outcome(ask(planForTests({ id: 'e', ...given }), visitorId));
      expect(outcome(ask(planForTests({ id: 'e', ...reversed }), visitorId))).toBe(answer);
    }),
  );
});

test('assign: a larger allocation only adds visitors, and moves no visitor to another variant', () => {
  assert(
    property(setting, integer({ min: 0, max: 100 }), visitorIds, (given, greater, visitorId) => {
      const small = ask(planForTests({ id: 'e', ...given, status: 'Running' }), visitorId);
      const trafficAllocation = Math.max(given.trafficAllocation, greater);
      const large = ask(planForTests({ id: 'e', ...given, status: 'Running', trafficAllocation }), visitorId);
      if (small.assigned) expect(outcome(large)).toBe(outcome(small));
    }),
  );
});

const accumulateProperties = (...asked: Parameters<typeof personalizeVisitor>) =>
  personalizeVisitor(...asked).properties;

const variants = (properties: Readonly<Record<string, string>>, weight = 100) => [
  { id: 'control', name: 'Control', isControl: true, weight: null },
  { id: 'new', name: 'New', isControl: false, weight, properties },
];

test('personalization: running personalizations apply to all visitors', () => {
  const plan = planForTests(
    { id: 'e1', type: 'personalization', variants: variants({ title: 'Hello' }) },
    { id: 'e2', type: 'personalization', variants: variants({ color: 'red' }) },
    { id: 'e3', type: 'personalization', status: 'Paused', variants: variants({ paused: 'yes' }) },
    { id: 'e4', type: 'personalization', status: 'Completed', variants: variants({ completed: 'yes' }) },
  );
  expect(accumulateProperties(plan, 'v', new Map(), undefined)).toEqual({ title: 'Hello', color: 'red' });
});

test('personalization: a personalization may consist of its control alone', () => {
  const only = [{ id: 'all', name: 'All', isControl: true, weight: null, properties: { title: 'Hello' } }];
  const plan = planForTests({ id: 'e', type: 'personalization', variants: only });
  expect(accumulateProperties(plan, 'v', new Map(), undefined)).toEqual({ title: 'Hello' });
});

test('personalization: a test applies only to visitors already assigned, and assigns no visitor', () => {
  const plan = planForTests({ id: 'e', variants: variants({ color: 'red' }) });
  expect(accumulateProperties(plan, 'v', new Map(), undefined)).toEqual({});
  expect(accumulateProperties(plan, 'v', new Map([['e', 'new']]), undefined)).toEqual({ color: 'red' });
  expect(accumulateProperties(plan, 'v', new Map([['e', 'control']]), undefined)).toEqual({});
});

test('personalization: a paused test still applies to its visitors, a completed test does not', () => {
  const assignments = new Map([
    ['paused', 'new'],
    ['completed', 'new'],
  ]);
  const plan = planForTests(
    { id: 'paused', status: 'Paused', variants: variants({ paused: 'yes' }) },
    { id: 'completed', status: 'Completed', variants: variants({ completed: 'yes' }) },
  );
  expect(accumulateProperties(plan, 'v', assignments, undefined)).toEqual({ paused: 'yes' });
});

test('personalization: a rolled out variant applies to all visitors', () => {
  const rolledOut = { status: 'Completed', rolloutVariantId: 'new', variants: variants({ color: 'red' }) };
  const plan = planForTests({ id: 'e', ...rolledOut });
  expect(accumulateProperties(plan, 'v', new Map([['e', 'control']]), undefined)).toEqual({ color: 'red' });
  expect(accumulateProperties(plan, 'w', new Map(), undefined)).toEqual({ color: 'red' });
});

test('personalization: if several experiments set the same property, a test wins, then the greater id', () => {
  const plan = planForTests(
    { id: 'e9', type: 'personalization', variants: variants({ a: 'e9', b: 'e9', c: 'e9' }) },
    { id: 'e5', variants: variants({ a: 'e5', b: 'e5' }) },
    { id: 'e2', variants: variants({ a: 'e2' }) },
    { id: 'e8', type: 'personalization', variants: variants({ c: 'e8' }) },
  );
  const assignments = new Map([
    ['e2', 'new'],
    ['e5', 'new'],
  ]);
  expect(accumulateProperties(plan, 'v', assignments, undefined)).toEqual({ a: 'e5', b: 'e5', c: 'e9' });
});

test('personalization: lists every variant that applies, with or without properties, in order of precedence, lowest first', () => {
  const plan = planForTests(
    { id: 'e5', variants: variants({}) },
    { id: 'e9', type: 'personalization', variants: variants({ a: 'e9' }) },
    { id: 'e7', variants: variants({ a: 'e7' }) },
  );
  const { by } = personalizeVisitor(plan, 'v', new Map([['e5', 'control']]), undefined);
  expect(by.map(({ experiment, variant, origin }) => [experiment.id, variant.id, origin])).toEqual([
    ['e9', 'new', 'new'],
    ['e5', 'control', 'sticky'],
  ]);
});

test('personalization: an experiment is left out on a page where it must not run', () => {
  const plan = planForTests({
    id: 'e',
    type: 'personalization',
    urlPatterns: ['/pricing'],
    variants: variants({ color: 'red' }),
  });
  expect(accumulateProperties(plan, 'v', new Map(), { url: 'https://example.com/' })).toEqual({});
  expect(accumulateProperties(plan, 'v', new Map(), { url: 'https://example.com/pricing' })).toEqual({ color: 'red' });
});

test('personalization: a property named like a built-in member of objects is an ordinary property', () => {
  const properties = Object.fromEntries([['__proto__', 'x']]) as Readonly<Record<string, string>>;
  const plan = planForTests({ id: 'e', type: 'personalization', variants: variants(properties) });
  expect(Object.entries(accumulateProperties(plan, 'v', new Map(), undefined))).toEqual([['__proto__', 'x']]);
});

test('work: the text read by patterns and rules counts, so a long URL with many experiments exceeds a budget', () => {
  const queryRules = Array.from({ length: 20 }, () => ({ parameter: 'p', operator: 'contains', value: 'x' }));
  const urlPatterns = ['/other', '/pricing?**'];
  const experiments = Array.from({ length: 10 }, (_, index) => ({ id: `e${index}`, urlPatterns, queryRules }));
  const plan = planForTests(...experiments);
  const workOf = (url: string): number => {
    const work = new Work(Number.POSITIVE_INFINITY);
    personalizeVisitor(plan, 'v', nothing, { url }, work);
    return work.spent;
  };
  const short = 'https://example.com/pricing?p=1';
  const long = `https://example.com/pricing?${'p=1&'.repeat(2_000)}`;
  expect(workOf(short)).toBeLessThan(2_000);
  expect(workOf(long)).toBeGreaterThan(100_000);
  expect(() => personalizeVisitor(plan, 'v', nothing, { url: long }, new Work(50_000))).toThrow(OverBudgetError);
  const request = { experimentKey: 'e1', visitorId: 'v', trackImpression: false, context: { url: long } };
  expect(() => assign(plan, request, nothing, new Work(30_000))).toThrow(OverBudgetError);
  expect(assign(plan, request, nothing, new Work(1_000_000))).toEqual({ assigned: false, reason: 'notEligible' });
});

test('work: an account with thousands of experiments costs work even without a page', () => {
  const plan = planForTests(...Array.from({ length: 100 }, (_, index) => ({ id: `e${index}` })));
  expect(() => personalizeVisitor(plan, 'v', nothing, undefined, new Work(1_000))).toThrow(OverBudgetError);
});
