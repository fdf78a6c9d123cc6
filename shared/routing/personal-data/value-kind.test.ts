import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isCardNumber, isIban, isNationalId, passesLuhn } from './checksums.ts';
import { kindOfName } from './name-kind.ts';
import { charactersMax, kindsOf } from './value-kind.ts';

const year = 2026;

test.each([
  ['contact', 'ada@example.com', 'email'],
  ['contact_id', 'ada@example.com', 'email'],
  ['current_url', 'https://shop.example/thanks?mail=ada%40example.com&x=1', 'email'],
  ['current_url', 'https://shop.example/?x=1', undefined],
  ['handle', '@ada', undefined],
  ['contact', '+44 20 7946 0958', 'phone'],
  ['contact', '+12', undefined],
  ['phone', '020 7946 0958', 'phone'],
  ['amount', '020 7946 0958', undefined],
  ['payment', '4111 1111 1111 1111', 'card'],
  ['payment', '4111 1111 1111 1112', undefined],
  ['order_id', '4111111111111111', undefined],
  ['payment', 4_111_111_111_111_111, 'card'],
  ['account', 'DE89 3704 0044 0532 0130 00', 'iban'],
  ['account', 'DE89 3704 0044 0532 0130 01', undefined],
  ['source', '203.0.113.7', 'ip'],
  ['source', '2001:db8::1', 'ip'],
  ['app_version', '1.2.3', undefined],
  ['birthday', '1990-01-31', 'birth_date'],
  ['dob', '31.01.1990', 'birth_date'],
  ['delivery', '1990-01-31', undefined],
  ['birthday', '2026-01-31', undefined],
  ['session', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl', 'secret'],
  ['key', '-----BEGIN PRIVATE KEY-----', 'secret'],
  ['ssn', '078-05-1120', 'national_id'],
  ['zone', '078-05-1120', undefined],
  ['ssn', '666-05-1120', undefined],
  ['cpf', '529.982.247-25', 'national_id'],
  ['cpf', '529.982.247-26', undefined],
  ['dni', '12345678Z', 'national_id'],
  ['pesel', '44051401359', 'national_id'],
  ['personnummer', '811218-9876', 'national_id'],
  ['bsn', '111222333', 'national_id'],
  ['codiceFiscale', 'RSSMRA85T10A562S', 'national_id'],
  ['nino', 'AB 12 34 56 C', 'national_id'],
  ['steuer_id', '86095742719', 'national_id'],
  ['insee', '2 55 08 14 168 025 38', 'national_id'],
  ['id', 'f47ac10b-58cc-4372-a567-0e02b2c3d479', undefined],
  ['at', 1_700_000_000_000, undefined],
])('personal data: %s with %s has the shape of %s', (name, value, kind) => {
  expect(kindsOf(name, value, year).byShape).toBe(kind);
});

test.each([
  ['email', 'email'],
  ['userEmail', 'email'],
  ['email_address', 'email'],
  ['email_opt_in', undefined],
  ['mobilePhone', 'phone'],
  ['firstName', 'name'],
  ['product_name', undefined],
  ['nachname', 'name'],
  ['shipping-postal-code', 'address'],
  ['card_id', undefined],
  ['tax_id', 'national_id'],
  ['birthDate', 'birth_date'],
  ['allergies', 'health'],
  ['accessToken', 'secret'],
  ['token_type', undefined],
  ['plan', undefined],
])('personal data: the name %s has the kind %s', (name, kind) => {
  expect(kindOfName(name)).toBe(kind);
});

describe('property', () => {
  const digits = (length: number) => fc.stringMatching(new RegExp(`^[0-9]{${length}}$`));

  test('Luhn: one wrong digit is always found', () => {
    fc.assert(
      fc.property(digits(15), fc.nat(14), fc.integer({ min: 1, max: 9 }), (body, place, by) => {
        const number = Array.from({ length: 10 }, (_, check) => `${body}${check}`).find(passesLuhn) ?? '';
        const wrong = Array.from(number, (digit, index) =>
          index === place ? String((Number(digit) + by) % 10) : digit,
        );
        expect([passesLuhn(number), passesLuhn(wrong.join(''))]).toEqual([true, false]);
      }),
    );
  });

  test('IBAN: exactly one of all check numbers is right', () => {
    fc.assert(
      fc.property(digits(18), (body) => {
        const checks = Array.from({ length: 97 }, (_, check) => `DE${String(check + 2).padStart(2, '0')}${body}`);
        expect(checks.filter(isIban)).toHaveLength(1);
      }),
      { numRuns: 50 },
    );
  });

  test('any text: every check returns a result, and text that is too long has no shape', () => {
    fc.assert(
      fc.property(fc.string(), fc.anything(), (name, value) => {
        const kinds = kindsOf(name, value, year);
        expect(kinds.byName).toBe(kindOfName(name));
        for (const check of [isCardNumber, isIban, isNationalId]) expect(check(name)).toBeTypeOf('boolean');
      }),
    );
    expect(kindsOf('x', `${'a'.repeat(charactersMax)}@example.com`, year).byShape).toBeUndefined();
  });

  test.each(['a@', '1-', '+1 ', 'https://a?b@', 'A1', 'eyJ.', '. '])(
    'hostile text: %s repeated to the maximum length gets a result',
    (part) => {
      const text = part.repeat(charactersMax).slice(0, charactersMax);
      expect(kindsOf(text, text, year)).toBeDefined();
    },
  );
});
