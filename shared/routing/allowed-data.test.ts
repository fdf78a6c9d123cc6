import { expect, test } from 'vitest';
import { compileAllowedData } from './allowed-data.ts';

const properties = { total: 1, email: 'a@b.c', user: { city: 'Rome', age: 7 }, products: [{ id: 'p', cost: 3 }, 'x'] };

test('allowed data: without an entry nothing is limited', () => {
  expect(compileAllowedData([])).toBeUndefined();
});

test.each<[string, readonly { readonly name: string; readonly properties: readonly string[] }[], unknown]>([
  ['Order', [{ name: 'order', properties: ['total'] }], { total: 1 }],
  ['Order', [{ name: 'Order', properties: [] }], {}],
  ['Order', [{ name: 'Other', properties: ['total'] }], {}],
  ['Order', [{ name: '*', properties: ['email'] }], { email: 'a@b.c' }],
  [
    'Order',
    [
      { name: '*', properties: ['email'] },
      { name: 'Order', properties: ['total'] },
    ],
    { total: 1, email: 'a@b.c' },
  ],
  [
    'Order',
    [{ name: 'Order', properties: ['user.city', 'products.id'] }],
    { user: { city: 'Rome' }, products: [{ id: 'p' }] },
  ],
  ['Order', [{ name: 'Order', properties: ['user', 'user.city'] }], { user: { city: 'Rome', age: 7 } }],
  ['Order', [{ name: 'Order', properties: ['total.deep', 'absent', '__proto__'] }], {}],
  ['$identify', [{ name: 'Order', properties: ['total'] }], {}],
  ['$identify', [{ name: '*', properties: ['email'] }], { email: 'a@b.c' }],
  ['$identify', [{ name: '$identify', properties: ['user'] }], { user: { city: 'Rome', age: 7 } }],
])('allowed data: event %s keeps the properties that the entries %j allow', (name, entries, expected) => {
  expect(compileAllowedData(entries)?.(name, properties)).toEqual(expected);
});
