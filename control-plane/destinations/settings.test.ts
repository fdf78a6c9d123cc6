import { expect, test } from 'vitest';
import type { DestinationKind } from '../../shared/destinations/sdk/destination.ts';
import { SettingError } from '../../shared/destinations/sdk/settings.ts';
import type { SettingDescriptor } from '../../shared/destinations/sdk/settings.ts';
import type { ApiError } from '../api/api-error.ts';
import { secretMask } from '../../shared/contracts/config/secrets.ts';
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
    version: 'unversioned',
  },
  loadPlatform: () => Promise.reject(new Error('it has none')),
  addresses: ({ url, region }) => ({
    url: String(url).replace(/(?<=\w)\/.*/, ''),
    region: JSON.stringify(region ?? 'eu'),
  }),
  warnings: () => [],
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

test('settings: defaults are applied, secrets are sealed, and settings that are not sent stay', () => {
  const first = merge(null, { url: 'https://a.test', token: 'one', isTest: true });
  expect(first).toEqual({ url: 'https://a.test', token: 'enc:v1:token:one', isTest: true, region: 'eu' });
  const second = merge(first, { isTest: false, account: 'mine', token: secretMask });
  expect(second).toEqual({ ...first, isTest: false, account: 'enc:v1:account:mine' });
  expect(openSettings(second ?? {}, sealer)).toMatchObject({ token: 'one', account: 'mine' });
  // Null as a value clears that key, which then gets its default if it has one; null instead of all settings clears all
  // of them.
  expect(merge(second, { account: null, region: null, isTest: null })).toEqual({
    url: 'https://a.test',
    token: 'enc:v1:token:one',
    region: 'eu',
    isTest: false,
  });
  expect(merge(second, null)).toEqual({ region: 'eu', isTest: false });
});

function refusal(work: () => unknown): readonly unknown[] | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    const { status, message, details } = error as ApiError;
    return [status, message, details];
  }
}

test('settings: a change of the address requires every stored secret again', () => {
  const stored = merge(null, { url: 'https://a.test/in', token: 'one', account: 'mine' });
  const moves = [{ url: 'https://b.test/in' }, { url: 'http://a.test/in' }, { url: null }, { region: 'us' }];
  for (const move of moves) {
    const [moved] = Object.keys(move);
    const both = 'settings.token, settings.account must be sent again, or cleared by null';
    expect(refusal(() => merge(stored, move))).toEqual([
      400,
      both,
      `settings.${moved} would send the stored secrets to another address`,
    ]);
    const masked = { ...move, token: secretMask, account: secretMask };
    expect(refusal(() => merge(stored, masked))?.slice(0, 2)).toEqual([400, both]);
    expect(() => merge(stored, { ...move, token: 'two' })).toThrow(/^settings\.account must be sent again/);
    // A client that sends the secret itself may choose any address.
    expect(merge(stored, { ...move, token: 'one', account: null })).toMatchObject({ token: 'enc:v1:token:one' });
  }
  expect(merge(stored, { url: 'https://a.test/out' })).toMatchObject({ token: 'enc:v1:token:one' });
  expect(merge(stored, null)).toEqual({ region: 'eu', isTest: false });
  // A secret that was set before any address must be sent again with the first address.
  const early = merge(null, { token: 'one' });
  expect(() => merge(early, { url: 'https://b.test' })).toThrow(/^settings\.token must be sent again/);
});

test.each([
  [{ notice: 'read' }, /^settings\.notice is a note and cannot have a value$/],
  [{ notice: null }, /^settings\.notice is a note/],
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

test('settings: missing required settings are named, invalid settings are refused', () => {
  const missing = (given: Record<string, unknown>) => missingSettings(kind, given, sealer);
  expect(missing({})).toEqual(['url', 'token']);
  expect(missing({ url: 'nowhere' })).toEqual(['token']);
  const complete = { url: 'https://a.test', token: 'enc:v1:token:one' };
  expect(missing(complete)).toEqual([]);
  expect(missing({ ...complete, region: 'us' })).toEqual(['account']);
  expect(() => missing({ ...complete, url: 'nowhere' })).toThrow(/^settings\.url must be a URL$/);
});
