/** Digits of a text that consists of digits, spaces and hyphens; undefined for any other text. */
export function digitsOf(text: string): string | undefined {
  return /^[\d -]+$/.test(text) ? text.replaceAll(/[ -]/g, '') : undefined;
}

/** The check of ISO/IEC 7812-1, which one random number in ten passes. */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let place = 0; place < digits.length; place += 1) {
    const digit = Number(digits[digits.length - 1 - place]);
    const doubled = place % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return digits.length > 0 && sum % 10 === 0;
}

/** Prefixes and lengths of card numbers in use: Visa, Mastercard, American Express, Discover, JCB, Diners, UnionPay. */
const cards: readonly (readonly [from: number, to: number, lengths: readonly number[]])[] = [
  [400_000, 499_999, [13, 16, 19]],
  [510_000, 559_999, [16]],
  [222_100, 272_099, [16]],
  [340_000, 349_999, [15]],
  [370_000, 379_999, [15]],
  [601_100, 601_199, [16, 19]],
  [644_000, 659_999, [16, 19]],
  [352_800, 358_999, [16, 19]],
  [300_000, 305_999, [14]],
  [360_000, 369_999, [14]],
  [380_000, 399_999, [14]],
  [620_000, 629_999, [16, 17, 18, 19]],
];

export function isCardNumber(text: string): boolean {
  const digits = digitsOf(text);
  if (digits === undefined || digits.length < 13 || digits.length > 19) return false;
  const prefix = Number(digits.slice(0, 6));
  const isIssued = cards.some(
    ([from, to, lengths]) => prefix >= from && prefix <= to && lengths.includes(digits.length),
  );
  return isIssued && passesLuhn(digits);
}

/** Lengths by country of the IBAN registry. */
const ibanLengths: Readonly<Record<string, number>> = Object.fromEntries(
  (
    'NO15 BE16 DK18 FI18 FO18 GL18 NL18 MK19 SI19 AT20 BA20 EE20 KZ20 LT20 LU20 XK20 CR22 HR21 LI21 LV21 CH21 BG22 BH22 DE22 ' +
    'GB22 GE22 IE22 ME22 RS22 AE23 GI23 IL23 AD24 CZ24 ES24 MD24 PK24 RO24 SA24 SE24 SK24 TN24 VA22 PT25 IS26 TR26 FR27 ' +
    'GR27 IT27 MC27 SM27 AL28 AZ28 CY28 HU28 LB28 PL28 BR29 EG29 QA29 UA29 JO30 KW30 MU30 MT31'
  )
    .split(' ')
    .map((one) => [one.slice(0, 2), Number(one.slice(2))]),
);

/** The check of ISO 13616: the length for the country, then the remainder modulo 97. */
export function isIban(text: string): boolean {
  const iban = text.replaceAll(' ', '').toUpperCase();
  if (!/^[A-Z]{2}\d{2}[A-Z\d]{11,30}$/.test(iban) || ibanLengths[iban.slice(0, 2)] !== iban.length) return false;
  let remainder = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder === 1;
}

const weighted = (digits: string, weights: readonly number[]): number =>
  weights.reduce((sum, weight, index) => sum + weight * Number(digits[index]), 0);

/** National ids by their form without separators, each with the check of its country. */
const nationalIds: readonly (readonly [form: RegExp, isValid: (id: string) => boolean])[] = [
  // USA, social security number.
  [/^\d{9}$/, (id) => !/^(000|666|9)/.test(id) && id.slice(3, 5) !== '00' && id.slice(5) !== '0000'],
  // United Kingdom, national insurance number.
  [/^[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]$/, () => true],
  // Netherlands, BSN.
  [/^\d{9}$/, (id) => weighted(id, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0],
  // Spain, DNI and NIE.
  [
    /^[XYZ\d]\d{7}[A-Z]$/,
    (id) =>
      'TRWAGMYFPDXBNJZSQVHLCKE'[
        Number(id.slice(0, 8).replace(/^[XYZ]/, (first) => String('XYZ'.indexOf(first)))) % 23
      ] === id[8],
  ],
  // Sweden, personnummer, with or without the century.
  [/^(\d{2})?\d{10}$/, (id) => passesLuhn(id.slice(-10)) && isMonthAndDay(id.slice(-8, -4))],
  // Poland, PESEL.
  [/^\d{11}$/, (id) => weighted(id, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0],
  // Germany, tax number (ISO 7064, modulus 11,10).
  [/^[1-9]\d{10}$/, (id) => germanCheck(id.slice(0, 10)) === Number(id[10])],
  // Brazil, CPF.
  [/^\d{11}$/, isCpf],
  // France, social security number.
  [
    /^[12]\d{4}[\dAB]\d{9}$/,
    (id) => 97 - (Number(id.slice(0, 13).replace('2A', '19').replace('2B', '18')) % 97) === Number(id.slice(13)),
  ],
  // Italy, codice fiscale.
  [/^[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]$/, () => true],
];

/**
 * Whether a text may be a national id. Random digits often pass: use it only for a property whose name suggests one.
 */
export function isNationalId(text: string): boolean {
  const id = text.replaceAll(/[ .\-/]/g, '').toUpperCase();
  return nationalIds.some(([form, isValid]) => form.test(id) && isValid(id));
}

function isMonthAndDay(text: string): boolean {
  const [month, day] = [Number(text.slice(0, 2)), Number(text.slice(2))];
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

function germanCheck(digits: string): number {
  let product = 10;
  for (const digit of digits) {
    const sum = (Number(digit) + product) % 10 || 10;
    product = (sum * 2) % 11;
  }
  return (11 - product) % 10;
}

function isCpf(id: string): boolean {
  if (id === id.charAt(0).repeat(11)) return false;
  return [9, 10].every((length) => {
    const weights = Array.from({ length }, (_, index) => length + 1 - index);
    return ((weighted(id, weights) * 10) % 11) % 10 === Number(id[length]);
  });
}
