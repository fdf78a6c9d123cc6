import { expect, test } from 'vitest';
import { planForTests } from './testing/config-for-tests.ts';
import { personalizeVisitor } from './personalization.ts';

const accumulateProperties = (...asked: Parameters<typeof personalizeVisitor>) =>
  personalizeVisitor(...asked).properties;

const variants = (properties: Readonly<Record<string, string>>, weight = 100) => [
  { id: 'control', name: 'Control', isControl: true, weight: null },
  { id: 'new', name: 'New', isControl: false, weight, properties },
];

test('personalization: running personalizations count for everybody', () => {
  const plan = planForTests(
    { id: 'e1', type: 'personalization', variants: variants({ title: 'Hello' }) },
    { id: 'e2', type: 'personalization', variants: variants({ color: 'red' }) },
    { id: 'e3', type: 'personalization', status: 'Paused', variants: variants({ paused: 'yes' }) },
    { id: 'e4', type: 'personalization', status: 'Completed', variants: variants({ completed: 'yes' }) },
  );
  expect(accumulateProperties(plan, 'v', new Map(), undefined)).toEqual({ title: 'Hello', color: 'red' });
});

test('personalization: a personalization may be its control alone', () => {
  const only = [{ id: 'all', name: 'All', isControl: true, weight: null, properties: { title: 'Hello' } }];
  const plan = planForTests({ id: 'e', type: 'personalization', variants: only });
  expect(accumulateProperties(plan, 'v', new Map(), undefined)).toEqual({ title: 'Hello' });
});

test('personalization: a test counts for those who are assigned, and assigns nobody', () => {
  const plan = planForTests({ id: 'e', variants: variants({ color: 'red' }) });
  expect(accumulateProperties(plan, 'v', new Map(), undefined)).toEqual({});
  expect(accumulateProperties(plan, 'v', new Map([['e', 'new']]), undefined)).toEqual({ color: 'red' });
  expect(accumulateProperties(plan, 'v', new Map([['e', 'control']]), undefined)).toEqual({});
});

test('personalization: a paused test keeps counting for its visitors, a completed one ends', () => {
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

test('personalization: a variant rolled out counts for everybody', () => {
  const rolledOut = { status: 'Completed', rolloutVariantId: 'new', variants: variants({ color: 'red' }) };
  const plan = planForTests({ id: 'e', ...rolledOut });
  expect(accumulateProperties(plan, 'v', new Map([['e', 'control']]), undefined)).toEqual({ color: 'red' });
  expect(accumulateProperties(plan, 'w', new Map(), undefined)).toEqual({ color: 'red' });
});

test('personalization: of two with one property a test wins, then the greater id', () => {
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

test('personalization: says whose properties they are, in the order in which a later one wins, also where they are none', () => {
  const plan = planForTests(
    { id: 'e5', variants: variants({}) },
    { id: 'e9', type: 'personalization', variants: variants({ a: 'e9' }) },
    { id: 'e7', variants: variants({ a: 'e7' }) },
  );
  const { by } = personalizeVisitor(plan, 'v', new Map([['e5', 'control']]), undefined);
  expect(by.map(({ experiment, variant }) => [experiment.id, variant.id])).toEqual([
    ['e9', 'new'],
    ['e5', 'control'],
  ]);
});

test('personalization: a page that is not eligible leaves out', () => {
  const plan = planForTests({
    id: 'e',
    type: 'personalization',
    urlPatterns: ['/pricing'],
    variants: variants({ color: 'red' }),
  });
  expect(accumulateProperties(plan, 'v', new Map(), { url: 'https://example.com/' })).toEqual({});
  expect(accumulateProperties(plan, 'v', new Map(), { url: 'https://example.com/pricing' })).toEqual({ color: 'red' });
});

test('personalization: a property named like a member of an object is a property', () => {
  const properties = Object.fromEntries([['__proto__', 'x']]) as Readonly<Record<string, string>>;
  const plan = planForTests({ id: 'e', type: 'personalization', variants: variants(properties) });
  expect(Object.entries(accumulateProperties(plan, 'v', new Map(), undefined))).toEqual([['__proto__', 'x']]);
});
