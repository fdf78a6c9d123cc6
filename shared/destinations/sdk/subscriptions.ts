import { outboundName, propertiesOf } from './event.ts';
import type { OutboundEvent } from './destination.ts';
import { choice, optionalText } from './settings.ts';
import type { Setting } from './settings.ts';
import { textForm } from '../../routing/values/value-forms.ts';
import { isJsonObject } from '../../runtime/json.ts';

/** Channels of marketing messages. */
export type Channel = 'email' | 'sms';

/** A person's opt-in to or opt-out of marketing messages. */
export type Subscription = { readonly action: 'subscribe' | 'unsubscribe'; readonly channels: readonly Channel[] };

/** The event names in a destination's settings. */
export type SubscriptionSettings = {
  readonly subscribeEvents: ReadonlySet<string>;
  readonly unsubscribeEvents: ReadonlySet<string>;
  readonly channels: 'email' | 'sms' | 'both';
};

/**
 * Only an event subscribes a person, at the moment of consent. An identify does not, because its
 * profile may be older than a choice made at the platform (`decisions/identify-repeats.md`).
 */
export const subscriptionSettings = {
  subscribeEvents: eventNames({
    label: 'Subscribing events',
    placeholder: 'User Subscribed, Newsletter Signup',
    sublabel: 'Names of events that opt a person in to marketing messages, separated by commas.',
  }),
  unsubscribeEvents: eventNames({
    label: 'Unsubscribing events',
    placeholder: 'User Unsubscribed',
    sublabel: 'Names of events that opt a person out.',
  }),
  channels: choice<'email' | 'sms' | 'both'>({
    label: 'Channels',
    options: [
      { label: 'E-mail', value: 'email' },
      { label: 'SMS', value: 'sms' },
      { label: 'E-mail and SMS', value: 'both' },
    ],
    sublabel: 'The channels these events apply to, unless the event has a property channel or channels (email, sms).',
    fallback: 'email',
  }),
} as const;

function eventNames(declared: {
  readonly label: string;
  readonly placeholder: string;
  readonly sublabel: string;
}): Setting<ReadonlySet<string>> {
  const setting = optionalText(
    declared,
    (text) => new Set(text.split(',').flatMap((name) => name.trim().toLowerCase() || [])),
  );
  return { ...setting, read: (given, key) => setting.read(given, key) ?? new Set<string>() };
}

/**
 * The opt-in or opt-out in an event; undefined for any other event. The channels come from the event or, if it
 * names none, from the settings, without channels that the event's `consents` contradict: `consented` is a subscription
 * only if it is true, 1, or the text true, yes, 1 or granted.
 *
 * ```ts
 * // Properties {"consents": [{"channel": "email", "consented": true}, {"channel": "sms", "consented": false}]}
 * subscriptionOf(event, settings); // {action: 'subscribe', channels: ['email']}
 * ```
 */
export function subscriptionOf(event: OutboundEvent, settings: SubscriptionSettings): Subscription | undefined {
  const name = outboundName(event).trim().toLowerCase();
  const action = settings.subscribeEvents.has(name)
    ? 'subscribe'
    : settings.unsubscribeEvents.has(name)
      ? 'unsubscribe'
      : undefined;
  if (action === undefined) return undefined;
  const { channel, channels, consents } = propertiesOf(event);
  const given = [channel, channels, consents].flat();
  const contradicted = new Set(given.flatMap((one) => contradictedBy(one, action)));
  const named = new Set(given.flatMap((one) => channelsOf(one) ?? []));
  const wanted = named.size > 0 ? [...named] : both.filter((one) => [one, 'both'].includes(settings.channels));
  const left = wanted.filter((one) => !contradicted.has(one));
  return left.length === 0 ? undefined : { action, channels: left };
}

const both: readonly Channel[] = ['email', 'sms'];

/** Reads `email`, `sms` or `{channel}`; undefined if no known channel is named. */
function channelsOf(value: unknown): readonly Channel[] | undefined {
  if (isJsonObject(value)) return channelsOf(value['channel']);
  const text = typeof value === 'string' ? value.trim().toLowerCase() : '';
  if (text === 'email' || text === 'e-mail') return ['email'];
  return text === 'sms' || text === 'text' ? ['sms'] : undefined;
}

/** The channels for which `{channel, consented}` contradicts the action: all channels if `channel` is missing. */
function contradictedBy(value: unknown, action: Subscription['action']): readonly Channel[] {
  if (!isJsonObject(value)) return [];
  const { channel, consented } = value;
  if (consented === undefined || consented === null || consented === '') return [];
  const isYes = /^\s*(true|yes|1|granted)\s*$/i.test(textForm(consented) ?? '');
  if (isYes !== (action === 'unsubscribe')) return [];
  return channel === undefined || channel === null ? both : (channelsOf(channel) ?? []);
}
