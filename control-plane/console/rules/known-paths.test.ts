import { expect, test } from 'vitest';
import { knownPaths, pathProblem, templateProblems } from './known-paths.ts';

const known = knownPaths({
  events: 3,
  paths: [
    { path: 'event.event_properties.coupon', events: 3, example: 'SPRING' },
    { path: 'event.event_properties.items.0.price', events: 2, example: '5' },
    { path: 'event.context.current_url', events: 3, example: 'https://a.test' },
    { path: 'visitor.custom_properties.tier', events: 1, example: 'gold' },
  ],
});

test('paths: an unknown path gets a warning that suggests the nearest known path', () => {
  const fine = [
    'event.event',
    ' $event.event_properties.coupon ',
    'event.event_properties.items',
    'event.event_properties.items.7.price',
    'event.default_properties.current_url',
    'event.integrations.GA4.clientId',
    'visitor.email',
    'visitor.custom_properties.tier',
  ];
  expect(fine.map((path) => pathProblem(path, known))).toEqual(fine.map(() => undefined));
  expect(pathProblem('event.event_propertys.coupon', known)).toContain('Did you mean event.event_properties.coupon?');
  expect(pathProblem('event.event_properties.cupon', known)).toContain('Did you mean event.event_properties.coupon?');
  expect(pathProblem('event_properties.coupon', known)).toContain('begin with event or visitor');
  expect(pathProblem('event.event_properties.unheard', known)).toBe(
    'No recent event has event.event_properties.unheard.',
  );
  expect(pathProblem('event.event_properties.unheard', knownPaths(undefined))).toBeUndefined();
});

test('templates: braces that do not close and bare paths are marked; constants are not', () => {
  const problems = (template: string) => templateProblems(template, known);
  expect(problems('{{event.event_properties.coupon}} for {{visitor.email}}')).toEqual([]);
  expect(problems('EUR')).toEqual([]);
  expect(problems('')).toEqual([]);
  expect(problems('{{event.event_properties.coupon')).toEqual([expect.stringContaining('not closed')]);
  expect(problems('event.event_properties.coupon}}')).toEqual([expect.stringContaining('not closed')]);
  expect(problems('event.event_properties.coupon')).toEqual([expect.stringContaining('sent as the text')]);
  expect(problems('{{}}')).toEqual(['The placeholder has no path.']);
  expect(problems('{{event.x}} {{visitor.y}}')).toHaveLength(2);
});
