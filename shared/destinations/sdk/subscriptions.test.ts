import { expect, test } from 'vitest';
import { sampleEvent } from './sample-event.ts';
import { subscriptionOf } from './subscriptions.ts';
import type { Subscription, SubscriptionSettings } from './subscriptions.ts';

const settings: SubscriptionSettings = {
  subscribeEvents: new Set(['joined']),
  unsubscribeEvents: new Set(['left']),
  channels: 'email',
};

function read(
  name: string,
  properties: Readonly<Record<string, unknown>>,
  channels: SubscriptionSettings['channels'] = 'email',
): Subscription | undefined {
  const resolved = sampleEvent({ event: name, event_properties: properties });
  return subscriptionOf({ resolved }, { ...settings, channels });
}

test('subscriptions: the channels that the event names, or else those in the settings', () => {
  expect(read('Viewed', { channel: 'sms' })).toBeUndefined();
  expect(read(' Joined ', {})).toEqual({ action: 'subscribe', channels: ['email'] });
  expect(read('Left', {}, 'both')).toEqual({ action: 'unsubscribe', channels: ['email', 'sms'] });
  expect(read('Joined', { channel: 'SMS' })).toEqual({ action: 'subscribe', channels: ['sms'] });
  expect(read('Joined', { channels: ['e-mail', 'text', 'email', 'push'] })?.channels).toEqual(['email', 'sms']);
  expect(read('Joined', { channel: 7, channels: { a: 1 }, consents: null })?.channels).toEqual(['email']);
});

const email = (consented: unknown): object => ({ channel: 'email', consented });
const sms = (consented: unknown): object => ({ channel: 'sms', consented });

test.each<readonly [properties: object, settings: SubscriptionSettings['channels'], channels: readonly string[]]>([
  [{ consents: [email(true), sms(false)] }, 'both', ['email']],
  [{ consents: [email(false)] }, 'email', []],
  [{ consents: [email(false), sms(false)] }, 'both', []],
  [{ consents: email(false) }, 'email', []],
  [{ channel: 'email', consents: [email(false)] }, 'email', []],
  [{ consents: [email(true), email(false)] }, 'email', []],
  [{ consents: [{ consented: false }] }, 'both', []],
  [{ channels: ['email', 'sms'], consents: [{ channel: null, consented: false }] }, 'both', []],
  [{ consents: [{ channel: 'push', consented: false }] }, 'email', ['email']],
  [{ consents: [email(undefined)] }, 'sms', ['email']],
  [{ consents: [email(null)] }, 'sms', ['email']],
  [{ consents: [email('false')] }, 'email', []],
  [{ consents: [email(' No '), sms('yes')] }, 'both', ['sms']],
  [{ consents: [email(0), sms(1)] }, 'both', ['sms']],
  [{ consents: [email('denied'), sms('Granted')] }, 'both', ['sms']],
  [{ consents: [email('not yet')] }, 'email', []],
])('subscriptions: a channel that the event declines is not subscribed: %j', (properties, channels, left) => {
  expect(read('Joined', { ...properties }, channels)?.channels ?? []).toEqual(left);
});

test.each<readonly [properties: object, channels: readonly string[]]>([
  [{ consents: [email(false), sms(true)] }, ['email']],
  [{ consents: [email(false), sms(false)] }, ['email', 'sms']],
  [{ consents: [{ consented: false }] }, ['email', 'sms']],
  [{ consents: [email(true), sms(true)] }, []],
  [{ consents: [email('0'), sms('TRUE')] }, ['email']],
])('subscriptions: an opt-out keeps a channel that the event still consents to: %j', (properties, left) => {
  expect(read('Left', { ...properties }, 'both')?.channels ?? []).toEqual(left);
});
