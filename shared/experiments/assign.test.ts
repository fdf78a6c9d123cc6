import { array, assert, constantFrom, integer, property, record, string } from 'fast-check';
import { expect, test } from 'vitest';
import { assign } from './assign.ts';
import type { AssignmentDecision, Assignments } from './assign.ts';
import { allocationBucket } from './bucketing.ts';
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

test('assign: without tracking an assignment is stored all the same, and no impression is due', () => {
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

test('assign: a sticky assignment of another experiment says nothing', () => {
  const decision = ask(planForTests({ id: 'e', trafficAllocation: 0 }), 'v', new Map([['other', 'new']]));
  expect(outcome(decision)).toBe('outsideAllocation');
});

test('assign: a sticky variant that is gone gives way to a new one', () => {
  expect(ask(planForTests({ id: 'e' }), 'v', new Map([['e', 'gone']]))).toMatchObject({ origin: 'new' });
});

test('assign: the allocation takes those in its buckets and nobody else', () => {
  const plan = planForTests({ id: 'e', trafficAllocation: 25 });
  for (let number = 0; number < 1_000; number += 1) {
    const visitorId = `v${String(number)}`;
    expect(ask(plan, visitorId).assigned).toBe(allocationBucket('e', visitorId) < 2_500);
  }
});

test('assign: a paused experiment keeps its visitors and takes no new ones', () => {
  const plan = planForTests({ id: 'e', status: 'Paused' });
  expect(outcome(ask(plan, 'v'))).toBe('paused');
  expect(outcome(ask(plan, 'v', new Map([['e', 'control']])))).toBe('sticky control');
});

test('assign: a completed experiment has nobody', () => {
  const plan = planForTests({ id: 'e', status: 'Completed' });
  expect(outcome(ask(plan, 'v'))).toBe('completed');
  expect(outcome(ask(plan, 'v', new Map([['e', 'new']])))).toBe('completed');
});

test('assign: a variant rolled out is everybody’s, whatever was assigned and allocated, and is not stored', () => {
  const plan = planForTests({ id: 'e', status: 'Completed', rolloutVariantId: 'new', trafficAllocation: 0 });
  for (const assignments of [nothing, new Map([['e', 'control']])]) {
    const decision = ask(plan, 'v', assignments);
    expect(outcome(decision)).toBe('rollout new');
    expect(decision).toMatchObject({ store: undefined, impressionDue: true });
  }
});

test('assign: a page that is not eligible is refused to all, and costs no assignment', () => {
  const plan = planForTests({ id: 'e', urlPatterns: ['/pricing'] });
  const sticky = new Map([['e', 'control']]);
  expect(outcome(ask(plan, 'v', sticky, { url: 'https://example.com/about' }))).toBe('notEligible');
  expect(outcome(ask(plan, 'v', nothing, { url: 'https://example.com/about' }))).toBe('notEligible');
  expect(outcome(ask(plan, 'v', sticky, { url: 'https://example.com/pricing' }))).toBe('sticky control');
});

test('assign: a personalization is always on', () => {
  const plan = planForTests({ id: 'e', type: 'personalization', trafficAllocation: 0 });
  expect(ask(plan, 'v')).toMatchObject({ assigned: true, origin: 'new' });
});

// Variants as an operator may leave them: at most 99 percent for the three, the control takes the rest.
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

test('assign: no change of weights, allocation or pause moves a visitor who is assigned', () => {
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

test('assign: the same question has the same answer, in every process', () => {
  assert(
    property(setting, visitorIds, (given, visitorId) => {
      const reversed = { ...given, variants: given.variants.toReversed() };
      const answer = outcome(ask(planForTests({ id: 'e', ...given }), visitorId));
      expect(outcome(ask(planForTests({ id: 'e', ...reversed }), visitorId))).toBe(answer);
    }),
  );
});

test('assign: a greater allocation only adds visitors, and moves none to another variant', () => {
  assert(
    property(setting, integer({ min: 0, max: 100 }), visitorIds, (given, greater, visitorId) => {
      const small = ask(planForTests({ id: 'e', ...given, status: 'Running' }), visitorId);
      const trafficAllocation = Math.max(given.trafficAllocation, greater);
      const large = ask(planForTests({ id: 'e', ...given, status: 'Running', trafficAllocation }), visitorId);
      if (small.assigned) expect(outcome(large)).toBe(outcome(small));
    }),
  );
});
