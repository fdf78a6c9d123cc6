import { expect, test } from 'vitest';
import { PlanError } from '../values/plan-error.ts';
import { pathCharactersMax, pathSegmentsMax } from '../values/rule-limits.ts';
import { compilePlanPath } from './plan-path.ts';

test.each([
  ['event_properties.total', 'properties', ['total']],
  ['event_properties.$total', 'properties', ['$total']],
  [' $event.event_properties.a.b ', 'properties', ['a', 'b']],
  ['event.default_properties.current_url', 'context', ['current_url']],
  ['request_context.ip', 'context', ['ip']],
  ['context.page', 'context', ['page']],
  ['$visitor.email', 'visitor', ['email']],
  ['visitor.event', 'visitor', ['event']],
])('plan path: %j has the root %s and the names %j', (path, root, names) => {
  expect(compilePlanPath(path, 'property')).toEqual({ root, names });
});

test.each([
  '',
  'event_properties',
  'event_properties.',
  'event_properties.a..b',
  'event.id',
  'constructor.name',
  'event',
])('plan path: %j is refused, because it names no property of the event', (path) => {
  expect(() => compilePlanPath(path, 'property')).toThrow(PlanError);
  expect(() => compilePlanPath(path, 'property')).toThrow('must name a property of the event');
});

test('plan path: a path of the maximum length or depth is accepted, and a longer or deeper path is refused', () => {
  const root = 'event_properties.';
  const longest = root + 'x'.repeat(pathCharactersMax - root.length);
  expect(compilePlanPath(longest, 'p').names).toHaveLength(1);
  expect(() => compilePlanPath(`${longest}x`, 'p')).toThrow(`at most ${pathCharactersMax} characters`);
  const deepest = `${root}${'a.'.repeat(pathSegmentsMax - 1)}a`;
  expect(compilePlanPath(deepest, 'p').names).toHaveLength(pathSegmentsMax);
  expect(() => compilePlanPath(`${deepest}.a`, 'p')).toThrow(`at most ${pathSegmentsMax} segments`);
});
