import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readFormPerson } from './form-fields.ts';
import { compilePath, valueAt } from './path.ts';
import { readTime } from './read-time.ts';
import { isSame } from './signature.ts';

test.each([
  ['2026-11-22T12:00:00Z', '2026-11-22T12:00:00.000Z'],
  ['2026-11-22T12:00:00.123456Z', '2026-11-22T12:00:00.123Z'],
  ['2026-11-22T07:00:00-05:00', '2026-11-22T12:00:00.000Z'],
  ['2026-11-22T12:00:00+0000', '2026-11-22T12:00:00.000Z'],
  ['2026-11-22 12:00:00', '2026-11-22T12:00:00.000Z'],
  ['2026-11-22 12:00:00 -05:00', '2026-11-22T17:00:00.000Z'],
  ['2026-11-22 12:00:00.5 -05', '2026-11-22T17:00:00.500Z'],
  ['2026-11-22T12:00:00,5Z', '2026-11-22T12:00:00.500Z'],
  ['2026-11-22', '2026-11-22T00:00:00.000Z'],
  [1_795_348_800, '2026-11-22T12:00:00.000Z'],
  ['1795348800', '2026-11-22T12:00:00.000Z'],
  [1_795_348_800_000, '2026-11-22T12:00:00.000Z'],
])('times: %j is %s', (value, iso) => {
  expect(new Date(readTime(value) ?? 0).toISOString()).toBe(iso);
});

test.each([undefined, null, '', 'yesterday', '22.11.2026', true, {}, [], Number.NaN, '2026-13-45T00:00:00Z'])(
  'times: %j is not a time',
  (value) => {
    expect(readTime(value)).toBeUndefined();
  },
);

test('times: any value is read as a finite number or not at all', () => {
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.string(), fc.date({ noInvalidDate: true }).map(String)), (value) => {
      const ms = readTime(value);
      expect(ms === undefined || Number.isFinite(ms)).toBe(true);
    }),
  );
});

test('paths: read members, elements by index, and the first element whose field has a value; other paths give undefined', () => {
  const body = {
    a: {
      b: [
        { type: 'x', v: 1 },
        { type: 'email', v: 2 },
      ],
    },
    'portal-id': 3,
  };
  const at = (path: string): unknown => valueAt(body, compilePath(path));
  expect([at('a.b[0].v'), at('a.b[type=email].v'), at('portal-id')]).toEqual([1, 2, 3]);
  expect([at('a.b[2].v'), at('a.b.v'), at('a.b[type=none].v'), at('constructor'), at('a.toString')]).toEqual(
    Array.from({ length: 5 }),
  );
  expect(() => compilePath('a[')).toThrow('is not a step of a path');
});

test('forms: a person’s data is recognized by the labels of the fields', () => {
  const fields = [
    { label: 'What is your e-mail address?', value: ' a@b.test ' },
    { label: 'workEmail', value: 'second@b.test' },
    { label: 'Mobile phone', value: { area: '555', phone: '0100200' } },
    { label: 'full_name', value: 'Ada King Lovelace' },
    { label: 'Postal code', value: 1010 },
    { label: 'Company', value: 'Analytical' },
    { label: 'Username', value: 'ada' },
    { label: 'Email me?', value: 'yes' },
  ];
  expect(readFormPerson(fields)).toEqual({
    email: 'a@b.test',
    traits: {
      phone_number: '555 0100200',
      first_name: 'Ada',
      last_name: 'King Lovelace',
      zip: '1010',
      company_name: 'Analytical',
    },
  });
});

test.each<[label: string, value: unknown, email: string | undefined, traits: object]>([
  // Form builders number the fields that they name.
  ['q4_email4', 'ida@example.com', 'ida@example.com', {}],
  ['email_2', 'ida@example.com', 'ida@example.com', {}],
  ['q12_workEmailaddress12', 'ida@example.com', 'ida@example.com', {}],
  ['q3_fullName3', { first: 'Ida', last: 'Example' }, undefined, { first_name: 'Ida', last_name: 'Example' }],
  ['q3_typeA3', { first: 'Ida', last: 'Example' }, undefined, { first_name: 'Ida', last_name: 'Example' }],
  ['q6_phoneNumber6', { area: '555', phone: '0100200' }, undefined, { phone_number: '555 0100200' }],
  ['q5_address5', { city: 'Wien', postal: '1010' }, undefined, { city: 'Wien', zip: '1010' }],
  ['Your Name and Surname', 'Ada King', undefined, { first_name: 'Ada', last_name: 'King' }],
  ["What's your full name?", 'Ada King', undefined, { first_name: 'Ada', last_name: 'King' }],
  ['What is your name?', 'Ada', undefined, { first_name: 'Ada' }],
  ['First and last name *', 'Ada King', undefined, { first_name: 'Ada', last_name: 'King' }],
  ['Contact first name', 'Ada', undefined, { first_name: 'Ada' }],
  ['And your phone?', '+1 (415) 555-2671 ext. 12', undefined, { phone_number: '+1 (415) 555-2671 ext. 12' }],
  ['Company name', 'Analytical', undefined, { company_name: 'Analytical' }],
  ['Which company do you work for?', 'Analytical', undefined, { company_name: 'Analytical' }],
  // Questions about a thing or another person yield no property.
  ['Which phone do you own?', 'Pixel 9', undefined, {}],
  ['How many mobile devices?', 3, undefined, {}],
  ['Best time to phone', '10:00 - 12:00', undefined, {}],
  ['Company size', '11-50', undefined, {}],
  ['Company website', 'https://a.test', undefined, {}],
  ['Name of your pet', 'Rex', undefined, {}],
  ["Mother's maiden name", 'Byron', undefined, {}],
  ['Emergency contact phone', '+14155552671', undefined, {}],
  ["Friend's e-mail", 'friend@example.com', undefined, {}],
  ['q9_child9', { first: 'Ida', last: 'Example' }, undefined, {}],
  ['Product name', 'Widget', undefined, {}],
  ['Email me?', 'yes', undefined, {}],
])('forms: the answer to %s, %o, is read as data of a person or left out', (label, value, email, traits) => {
  expect(readFormPerson([{ label, value }])).toEqual({ email, traits });
});

test('signatures: isSame says what === says', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (one, other) => {
      expect(isSame(one, other)).toBe(one === other);
    }),
  );
  expect(isSame('a', 'a')).toBe(true);
});
