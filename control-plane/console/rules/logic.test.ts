import { expect, test } from 'vitest';
import { linesOf, readLogic, sayLogic, sayOperator, valueOf, withOperator } from './logic.ts';
import type { Logic, Operator } from './logic.ts';

const is = (property: string, value: string | number): Logic => ({ condition: { property, operator: 'Is', value } });

test('logic: is read as it was stored, except that null members are left out', () => {
  const stored = { condition: null, AND: [is('event.event', 'a'), { NOT: { OR: [is('visitor.city', 'b')] } }] };
  expect(readLogic(stored)).toEqual({ AND: stored.AND });
  for (const wrong of [
    null,
    [],
    {},
    { AND: [] },
    { AND: [{}] },
    { NOT: 5 },
    { XOR: [] },
    { condition: { property: 'a' } },
  ]) {
    expect([wrong, readLogic(wrong)]).toEqual([wrong, undefined]);
  }
  expect(readLogic({ AND: [is('a', 'b')], OR: [is('a', 'b')] })).toBeUndefined();
});

test('logic: is shown as a sentence, with nested conditions in brackets', () => {
  const logic: Logic = { AND: [is('event.event', 'Order'), { OR: [is('a', 1), { NOT: is('b', 2) }] }] };
  expect(sayLogic(logic)).toBe('event.event is Order and (a is 1 or not (b is 2))');
  expect(sayOperator('IsGreaterThanOrEqual')).toBe('is greater than or equal');
});

test('values: a value written as lines of text reads back unchanged', () => {
  for (const [value, takes] of [
    ['5', 'value'],
    [5, 'value'],
    [true, 'value'],
    [null, 'value'],
    [['a,b', 'c'], 'list'],
    [[1, 2.5], 'range'],
    ['2026-01-31', 'date'],
  ] as const) {
    expect([takes, valueOf(linesOf(value, takes), takes, value)]).toEqual([takes, value]);
  }
  expect(valueOf(['six'], 'value', 5)).toBe('six');
  expect(valueOf(['6'], 'value', '5')).toBe('6');
  expect(linesOf('a, b', 'list')).toEqual(['a', 'b']);
});

test('values: a changed operator keeps as much of the value as it can take', () => {
  const operator = (takes: Operator['takes']): Operator => ({ name: 'Other', summary: '', takes });
  const one = { property: 'a', operator: 'Is', value: 5 };
  expect(withOperator(one, operator('list'), 'value')).toEqual({ property: 'a', operator: 'Other', value: [5] });
  expect(withOperator(one, operator('range'), 'value').value).toEqual([5, '']);
  expect(withOperator(one, operator('nothing'), 'value')).toEqual({ property: 'a', operator: 'Other' });
  expect(withOperator({ ...one, value: ['x', 'y'] }, operator('text'), 'list').value).toBe('x');
  expect(withOperator({ property: 'a', operator: 'IsNull' }, operator('text'), 'nothing').value).toBe('');
});
