import fc from 'fast-check';
import { expect, test } from 'vitest';
import { VisitorProperties } from '../../../shared/visitors/visitor-properties.ts';
import { defaultsOf } from '../../../shared/runtime/env.ts';
import { readResolverSettings, resolverEnv } from './resolver-settings.ts';
import { cutVisitor, leftOutKey } from './cut-visitor.ts';
import { VisitorRateLimit } from './visitor-rate-limit.ts';

const visitorOf = (bytes: number): VisitorProperties => new VisitorProperties({ bio: 'x'.repeat(bytes - 10) });

test('visitor rate limit: each account has its own burst, and then an amount in proportion to what it sends', () => {
  const limit = new VisitorRateLimit({ perByteSent: 2, burstBytes: 2_000, alwaysBytes: 300 });
  const whole = (account: string, properties: VisitorProperties): boolean =>
    limit.spend(account, properties) === properties;
  const thousand = visitorOf(1_000);
  expect([whole('a', thousand), whole('a', thousand), whole('a', thousand)]).toEqual([true, true, false]);
  expect(whole('b', thousand)).toBe(true);
  expect(whole('a', visitorOf(300))).toBe(true);
  limit.earn('a', 499);
  expect(whole('a', thousand)).toBe(false);
  limit.earn('a', 1);
  expect([whole('a', thousand), whole('a', thousand)]).toEqual([true, false]);
});

test('visitor rate limit: a shortened visitor keeps what rules and destinations need, and the number of properties left out', () => {
  const cut = cutVisitor(
    new VisitorProperties({
      bio: 'x'.repeat(2_000),
      city: 'Oslo',
      custom_properties: { big: 'y'.repeat(2_000), plan: 'pro' },
      email: 'a@b.c',
      consent: { ads: false },
      external_id: '7',
    }),
    400,
  );
  expect(cut.value).toEqual({
    consent: { ads: false },
    external_id: '7',
    email: 'a@b.c',
    city: 'Oslo',
    custom_properties: { plan: 'pro' },
    [leftOutKey]: 2,
  });
});

test('visitor rate limit: properties that the live version reads are always sent with the event, however large', () => {
  const properties = new VisitorProperties({
    bio: 'x'.repeat(2_000),
    notes: 'z'.repeat(2_000),
    city: 'Oslo',
    custom_properties: { big: 'y'.repeat(2_000), other: 'w'.repeat(2_000), plan: 'pro' },
  });
  const reads = { isAll: false, own: new Set(['bio', 'none']), custom: new Set(['big']) };
  const limit = new VisitorRateLimit({ perByteSent: 2, burstBytes: 0, alwaysBytes: 400 }, (account) =>
    account === 'all' ? { ...reads, isAll: true } : reads,
  );
  const { bio, city } = properties.value;
  expect(limit.spend('some', properties).value).toEqual({
    bio,
    custom_properties: { big: 'y'.repeat(2_000) },
    [leftOutKey]: 4,
  });
  expect(limit.spend('all', properties)).toBe(properties);
  expect(cutVisitor(properties, 4_200, reads).value).toMatchObject({ bio, city, [leftOutKey]: 2 });
  expect(cutVisitor(properties, 20_000)).toBe(properties);
});

test('visitor rate limit: a visitor that is cut short never exceeds the limit in bytes', () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true });
  fc.assert(
    fc.property(object, object, fc.integer({ min: 256, max: 2_000 }), (own, custom, bytesMax) => {
      const cut = cutVisitor(new VisitorProperties({ ...own, custom_properties: custom }), bytesMax);
      expect(cut.bytes).toBeLessThanOrEqual(bytesMax);
    }),
  );
});

test('visitor rate limit: with the defaults a profile of up to 8 KiB is sent whole, however little its account sends', () => {
  const limit = new VisitorRateLimit(readResolverSettings(defaultsOf(resolverEnv)).visitorRate);
  for (let n = 0; n < 1_000; n += 1) {
    const properties = visitorOf(8 * 1024);
    expect(properties.bytes).toBe(8 * 1024);
    expect(limit.spend('a', properties)).toBe(properties);
  }
});
