import { expect, test } from 'vitest';
import { PersonalData } from './personal-data.ts';
import type { SampledEvent } from './personal-data.ts';

const nowMs = Date.UTC(2026, 10, 27);
const event = (properties: object, own: Partial<SampledEvent> = {}): SampledEvent => ({
  accountId: 'a',
  name: 'Signup',
  isTest: false,
  receivedAtMs: nowMs,
  properties,
  context: {},
  given: [],
  ...own,
});

const times = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

function found(events: readonly SampledEvent[]): readonly string[] {
  const personalData = new PersonalData();
  for (const one of events) personalData.sample(one, nowMs);
  return personalData.take().map(({ event: name, property, kind, basis }) => `${name} ${property} ${kind} by ${basis}`);
}

test('personal data: a property is found after 3 values if name and values agree, after 20 if only the shape of the values fits', () => {
  const mail = (n: number) => `person${n}@example.com`;
  expect(found(times(2).map((n) => event({ email: mail(n) })))).toEqual([]);
  expect(found(times(3).map((n) => event({ email: mail(n) })))).toEqual([
    'Signup event_properties.email email by both',
  ]);
  expect(found(times(19).map((n) => event({ contact: mail(n) })))).toEqual([]);
  expect(found(times(20).map((n) => event({ contact: mail(n) })))).toEqual([
    'Signup event_properties.contact email by shape',
  ]);
  // A single address that repeats is likely the shop's own, so it is no finding.
  expect(found(times(100).map(() => event({ contact: mail(1) })))).toEqual([]);
  expect(found(times(100).map((n) => event({ contact: n % 2 === 0 ? mail(n) : 'none' })))).toEqual([]);
});

test('personal data: values within objects, lists, the context and the visitor are found under their paths', () => {
  const of = (n: number): SampledEvent =>
    event(
      { billing: { first_name: `Ada${n}` }, guests: [{ dob: '1990-01-31' }] },
      {
        context: { current_url: `https://a.example/?e=p${n}@example.com`, ip: '203.0.113.7' },
        given: [{ email: 'a@example.com', custom_properties: { allergy: `nuts ${n}` } }],
      },
    );
  expect(found(times(20).map(of)).toSorted()).toEqual([
    '* default_properties.current_url email by shape',
    '* visitor.custom_properties.allergy health by name',
    'Signup event_properties.billing.first_name name by name',
    'Signup event_properties.guests.dob birth_date by both',
  ]);
});

test('personal data: neither values nor property names that contain data are kept', () => {
  const personalData = new PersonalData();
  for (const n of times(30)) {
    personalData.sample(
      event({ contact: `canary${n}@example.com`, 'canary@example.com': 'x', first_name: `canary${n}` }),
      nowMs,
    );
  }
  const rows = personalData.take();
  expect(rows.map(({ shape }) => shape)).toEqual(['aaaaaa99@aaaaaaa.aaa', 'aaaaaa99'].map(() => expect.any(String)));
  expect(JSON.stringify(rows)).not.toMatch(/canary/);
});

test('personal data: each report has only what is new since the report before, and test events are ignored', () => {
  const personalData = new PersonalData();
  const mail = event({ email: 'a@example.com' });
  for (const _ of times(3)) personalData.sample(mail, nowMs);
  expect(personalData.take()).toMatchObject([{ seen: 3, matched: 3 }]);
  expect(personalData.take()).toEqual([]);
  personalData.sample({ ...mail, isTest: true }, nowMs);
  expect(personalData.take()).toEqual([]);
  personalData.sample(mail, nowMs);
  expect(personalData.take()).toMatchObject([{ seen: 1, matched: 1 }]);
});

test('personal data: sampled events per second are limited per account and in total, and the number of properties is limited', () => {
  const personalData = new PersonalData();
  const taken = (account: string, at: number): number =>
    times(50).filter(() => personalData.takes(account, 100, at)).length;
  expect(taken('a', nowMs)).toBe(20);
  expect(times(10).map((n) => taken(`b${n}`, nowMs))).toEqual([20, 20, 20, 20, 0, 0, 0, 0, 0, 0]);
  expect(taken('a', nowMs + 1_000)).toBe(20);
  expect(personalData.takes('c', 64 * 1_024, nowMs + 1_000)).toBe(false);
  for (const n of times(50)) {
    personalData.sample(event(Object.fromEntries(times(100).map((of) => [`p${n}_${of}`, 'x']))), nowMs);
  }
  expect(personalData.skipped).toBe(50 * 100 - 2_000);
});

/** What shops send: a property, its kind of personal data if it is one, and a value for the nth customer. */
const corpus: readonly (readonly [name: string, kind: string | undefined, value: (n: number) => unknown])[] = [
  ['email', 'email', (n) => `kunde.${n}@example.de`],
  ['customerEmail', 'email', (n) => `c${n}@mail.example.co.uk`],
  ['correo', 'email', (n) => `cliente${n}@example.es`],
  ['contact', 'email', (n) => `client-${n}@example.fr`],
  ['phone', 'phone', (n) => `+49 30 9018${String(20 + (n % 80)).padStart(2, '0')}${n % 10}`],
  ['telefono', 'phone', (n) => `91 123 45 ${10 + (n % 80)}`],
  ['mobile', 'phone', (n) => `0${612_345_600 + n}`],
  ['callback', 'phone', (n) => `+1 415 555 ${2_600 + n}`],
  ['first_name', 'name', (n) => `Ada${n}`],
  ['nachname', 'name', (n) => `Muster${n}`],
  ['apellido', 'name', (n) => `Garcia${n}`],
  ['street', 'address', (n) => `Hauptstr. ${n}`],
  ['plz', 'address', (n) => String(10_115 + n)],
  ['postcode', 'address', (n) => `SW1A ${n}AA`],
  ['dob', 'birth_date', (n) => `19${50 + (n % 40)}-03-0${1 + (n % 9)}`],
  ['geburtsdatum', 'birth_date', (n) => `0${1 + (n % 9)}.03.19${50 + (n % 40)}`],
  ['ip_address', 'ip', (n) => `203.0.113.${n}`],
  ['iban', 'iban', () => 'GB82 WEST 1234 5698 7654 32'],
  ['cpf', 'national_id', () => '529.982.247-25'],
  ['diagnosis', 'health', (n) => `J${n}`],
  ['allergies', 'health', (n) => `nuts ${n}`],
  ['password', 'secret', (n) => `hunter${n}`],
  ['order_id', undefined, (n) => 4_000_000_000_000 + n * 7_919],
  ['order_number', undefined, (n) => `2026-${100_000 + n}`],
  ['total', undefined, (n) => n * 9.99],
  ['currency', undefined, () => 'EUR'],
  ['coupon', undefined, (n) => `SUMMER${n}`],
  ['sku', undefined, (n) => `SKU-${100_000 + n}`],
  ['ean', undefined, (n) => 4_006_381_333_900 + n],
  ['product_name', undefined, (n) => `Chair ${n}`],
  ['brand', undefined, (n) => `Brand ${n}`],
  ['category', undefined, (n) => `cat ${n % 5}`],
  ['created_at', undefined, (n) => 1_700_000_000_000 + n],
  ['delivery_date', undefined, (n) => `2026-12-${10 + (n % 20)}`],
  ['app_version', undefined, (n) => `1.2.${n}`],
  ['session_id', undefined, (n) => `f47ac10b-58cc-4372-a567-0e02b2c3d4${10 + (n % 90)}`],
  ['email_opt_in', undefined, (n) => n % 2 === 0],
  ['phone_model', undefined, (n) => `Pixel ${n}`],
  ['card_type', undefined, () => 'visa'],
  ['query', undefined, (n) => `chairs ${n}`],
  ['quantity', undefined, (n) => n],
  ['loyalty_points', undefined, (n) => 1_000 + n],
];

test('personal data: nearly all personal data that shops send is found, and hardly anything else', () => {
  const events = times(40).map((n) => event(Object.fromEntries(corpus.map(([name, , value]) => [name, value(n)]))));
  const seen = new Map(found(events).map((line) => [line.split(' ')[1]?.split('.')[1], line.split(' ')[2]]));
  const personal = corpus.filter(([, kind]) => kind !== undefined);
  const right = personal.filter(([name, kind]) => seen.get(name) === kind).length;
  expect(right / personal.length).toBeGreaterThanOrEqual(0.9);
  expect(right / seen.size).toBeGreaterThanOrEqual(0.95);
});
