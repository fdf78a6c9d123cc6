import { expect, test } from 'vitest';
import { compileIntegrations } from './integrations.ts';

const wanted = (type: string, name: string, integrations: Readonly<Record<string, boolean>>): boolean =>
  compileIntegrations({ type, name }, [])(JSON.stringify(integrations));

test.each([
  ['named with a no', { Mixpanel: false }, false],
  ['another one named with a no', { Amplitude: false }, true],
  ['all refused', { All: false }, false],
  ['all refused but this one', { All: false, Mixpanel: true }, true],
  ['all refused but another one', { All: false, Amplitude: true }, false],
  ['named in another spelling', { 'mix panel (Actions)': false }, false],
  ['named by what its operator calls it', { 'Product analytics': false }, false],
  ['named twice, once with a no', { Mixpanel: true, 'Product analytics': false }, false],
  ['nothing said', {}, true],
] as const)('integrations: %s', (_, integrations, expected) => {
  expect(wanted('Mixpanel', 'Product analytics', integrations)).toBe(expected);
});

test('integrations: a platform is recognized by the names that other services give it', () => {
  const isWanted = compileIntegrations({ type: 'Customerio', name: '' }, ['Customer.io', 'Actions Customerio']);
  expect(isWanted('{"customer.io (Actions)":false}')).toBe(false);
  expect(isWanted('{"All":false,"Actions Customerio":true}')).toBe(true);
});

test('integrations: an empty name excludes no destination', () => {
  expect(wanted('Mixpanel', '', { '': false })).toBe(true);
});

test('integrations: an answer is the same from the cache and after the cache was cleared', () => {
  const isWanted = compileIntegrations({ type: 'Mixpanel', name: '' }, []);
  const ask = (index: number): boolean =>
    isWanted(JSON.stringify({ [`Other ${index}`]: true, Mixpanel: index % 2 === 0 }));
  const asked = Array.from({ length: 1_500 }, (_, index) => index);
  expect(asked.map(ask)).toEqual(asked.map((index) => index % 2 === 0));
  expect(asked.map(ask)).toEqual(asked.map((index) => index % 2 === 0));
});
