import { expect, test } from 'vitest';
import type { DestinationKind } from '../../shared/destinations/sdk/destination.ts';
import { SettingError } from '../../shared/destinations/sdk/settings.ts';
import type { SettingDescriptor } from '../../shared/destinations/sdk/settings.ts';
import { secretMask } from '../draft/mask-settings.ts';
import { mergeSettings, missingSettings, openSettings } from './settings.ts';

const named = { sublabel: null, required: null };
const settings: readonly SettingDescriptor[] = [
  { type: 'Alert', key: 'notice', label: 'Notice' },
  { ...named, type: 'Text', key: 'url', label: 'URL', placeholder: '', required: true },
  { ...named, type: 'Secret', key: 'token', label: 'Token', placeholder: '', required: true },
  { ...named, type: 'Switch', key: 'isTest', label: 'Test', defaultValue: false },
  {
    ...named,
    type: 'Select',
    key: 'region',
    label: 'Region',
    defaultValue: 'eu',
    options: ['eu', 'us'].map((value) => ({ label: value, value })),
  },
  { type: 'GenericOauth', key: 'account', label: 'Account', sublabel: null },
];
const kind: DestinationKind = {
  descriptor: {
    id: 'Made',
    label: 'Made',
    status: 'ga',
    capabilities: { oauth: false, listsAccounts: false, supportsRenamedEvents: false },
    settings,
  },
  exampleSettings: {},
  facts: {
    sends: '',
    limits: { events: 1 },
    deduplicatesBy: undefined,
    errors: '',
    sources: ['https://x'],
    checked: '',
  },
  prepare({ url, region, account }) {
    if (url === 'nowhere') throw new SettingError('url', 'must be a URL');
    if (region === 'us' && account === undefined) throw new SettingError('account', 'is required in the US');
    return {
      batchEventsMax: 1,
      buildRequest: () => ({ method: 'POST', url: String(url), headers: {}, body: undefined }),
    };
  },
};
const sealer = {
  seal: (key: string, plain: string) => `enc:v1:${key}:${plain}`,
  open: (key: string, sealed: string) => sealed.replace(`enc:v1:${key}:`, ''),
};
const merge = (stored: Record<string, unknown> | null, sent: Record<string, unknown> | null) =>
  mergeSettings(kind, stored, sent, sealer);

test('settings: defaults are applied, secrets sealed, and what is not sent stays', () => {
  const first = merge(null, { url: 'https://a.test', token: 'one', isTest: true });
  expect(first).toEqual({ url: 'https://a.test', token: 'enc:v1:token:one', isTest: true, region: 'eu' });
  const second = merge(first, { region: 'us', account: 'mine', token: secretMask });
  expect(second).toEqual({ ...first, region: 'us', account: 'enc:v1:account:mine' });
  expect(openSettings(second ?? {}, sealer)).toMatchObject({ token: 'one', account: 'mine' });
  // A null clears a key, to its default where it has one; null for all clears all.
  expect(merge(second, { url: null, region: null, isTest: null })).toEqual({
    token: 'enc:v1:token:one',
    account: 'enc:v1:account:mine',
    region: 'eu',
    isTest: false,
  });
  expect(merge(second, null)).toEqual({ region: 'eu', isTest: false });
});

test.each([
  [{ notice: 'read' }, /^settings\.notice is a message and takes no value$/],
  [{ notice: null }, /^settings\.notice is a message/],
  [{ nothing: 1 }, /^settings\.nothing is not a setting of Made$/],
  [{ isTest: 'true' }, /^settings\.isTest must be true or false$/],
  [{ region: 'asia' }, /^settings\.region must be one of eu, us$/],
  [{ url: 7 }, /^settings\.url must be a string/],
  [{ url: 'enc:v1:x' }, /^settings\.url must not begin like a sealed secret$/],
  [{ token: secretMask }, /^settings\.token is the mask of a secret, but none is stored$/],
  [{ account: 'x'.repeat(20_000) }, /^settings\.account must be a string of at most/],
])('settings: %j is refused, naming the key', (sent, message) => {
  expect(() => merge(null, sent)).toThrow(message);
});

test('settings: what is required and missing is said, what is there and wrong is refused', () => {
  const missing = (given: Record<string, unknown>) => missingSettings(kind, given, sealer);
  expect(missing({})).toEqual(['url', 'token']);
  expect(missing({ url: 'nowhere' })).toEqual(['token']);
  const complete = { url: 'https://a.test', token: 'enc:v1:token:one' };
  expect(missing(complete)).toEqual([]);
  expect(missing({ ...complete, region: 'us' })).toEqual(['account']);
  expect(() => missing({ ...complete, url: 'nowhere' })).toThrow(/^settings\.url must be a URL$/);
});
