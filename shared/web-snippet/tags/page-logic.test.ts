import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compilePredicate } from '../../routing/predicate/predicate.ts';
import { PlanError } from '../../routing/values/plan-error.ts';
import { compilePageLogic } from './compile-page-logic.ts';
import { pageOperators } from './tag-words.ts';
import { holds } from './page-logic.ts';

const scalar = fc.oneof(
  fc.constantFrom<string | number | boolean | null>(
    '',
    'a',
    'A',
    'ab',
    '5',
    '5.0',
    ' 5 ',
    5,
    0,
    -1,
    1e3,
    '1e3',
    'true',
    true,
    false,
    'False',
    null,
  ),
  fc.string({ maxLength: 3 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const actual = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.constantFrom({}, { a: 1 }, undefined));
const condition = fc.record({
  property: fc.constant('event.event_properties.x'),
  operator: fc.constantFrom(...pageOperators),
  value: fc.oneof(scalar, fc.array(scalar, { minLength: 1, maxLength: 3 })),
});
const { logic } = fc.letrec<{ logic: object }>((tie) => ({
  logic: fc.oneof(
    { maxDepth: 3 },
    fc.record({ condition }),
    fc.record({ AND: fc.array(tie('logic'), { minLength: 1, maxLength: 2 }) }),
    fc.record({ OR: fc.array(tie('logic'), { minLength: 1, maxLength: 2 }) }),
    fc.record({ NOT: tie('logic') }),
  ),
}));

const attempt = <Value>(work: () => Value): Value | 'refused' => {
  try {
    return work();
  } catch (error) {
    if (error instanceof PlanError) return 'refused';
    throw error;
  }
};

test('logic in pages: holds for the same values as the rules of the service', () => {
  fc.assert(
    fc.property(logic, actual, (given, x) => {
      const ofService = attempt(() => compilePredicate(given));
      const ofPage = attempt(() => compilePageLogic(given));
      if (ofService === 'refused' || ofPage === 'refused') {
        expect(ofPage).toBe(ofService);
        return;
      }
      const event = {
        id: '',
        event: 'E',
        time: 0,
        received_at: 0,
        source_id: '',
        account_id: '',
        test: false,
        context: {},
      };
      const subject = {
        event: { ...event, event_properties: x === undefined ? {} : { x } },
        visitor: { id: 'v', custom_properties: {} },
      };
      expect(holds(JSON.parse(JSON.stringify(ofPage)), () => x)).toBe(ofService(subject));
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  [{ condition: { property: 'visitor.email', operator: 'Is', value: 'a' } }, /property must be variables/],
  [
    { condition: { property: 'event.event', operator: 'MatchesRegex', value: 'a' } },
    /operator must be one of those that pages know/,
  ],
  [{ AND: [] }, /AND must be a list/],
])('logic in pages: %j is refused', (given, message) => {
  expect(() => compilePageLogic(given)).toThrow(message);
});
