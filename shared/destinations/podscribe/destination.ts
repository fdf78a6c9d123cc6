import { browserContext } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { defineDestination, onlyEvent, UnfitEventError } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { sentEvent, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { getWith } from '../sdk/http.ts';
import { hashDatum, knownPerson, normaliseGmail } from '../sdk/person.ts';
import { baseUrl, optionalText, requiredText } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { neededIp } from '../sdk/visitor-headers.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { acceptsUnlimitedEvents } from '../sdk/limited-data-use.ts';
import { defaultCurrency } from '../sdk/reading-settings.ts';

const actionCharactersMax = 100;

const settings = {
  advertiser: requiredText({
    label: 'Advertiser',
    placeholder: 'example-brand',
    sublabel: 'The advertiser lookup key on the tag setup page.',
    example: 'example-brand',
  }),
  userId: optionalText({ label: 'User ID', sublabel: 'From your Podscribe account, if you have one.' }),
  defaultCurrency: defaultCurrency(),
  baseUrl: baseUrl('https://verifi.podscribe.com'),
};

/**
 * Podscribe, server-side tag: `GET /tag`, one event per request, without authentication, as Podscribe's own integration
 * in https://github.com/segmentio/action-destinations (destinations/podscribe) sends it. Podscribe matches visitors by
 * IP address, without which an event is refused. Actions are view, purchase, signup and lead; any other name is a
 * custom action (https://composable-docs.zeotap.com/destinations/advertising/podscribe/).
 */
export const podscribe = defineDestination({
  id: 'Podscribe',
  label: 'Podscribe',
  settings,
  facts: {
    sends: 'Every customer event',
    limits: { events: 1 },
    deduplicatesBy: 'order_number',
    errors: 'status',
    sources: [
      'https://github.com/segmentio/action-destinations/tree/main/packages/destination-actions/src/destinations/podscribe',
      'https://composable-docs.zeotap.com/destinations/advertising/podscribe/',
    ],
    checked: '2026-11-22',
    version: 'unversioned',
  },
  loadPlatform: async () => (await import('./platform.ts')).podscribePlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl}/tag`;
  return {
    batchEventsMax: 1,
    accepts: acceptsUnlimitedEvents,
    buildRequest(events) {
      const event = sentEvent(onlyEvent(events), given);
      const { url: page, referrer, userAgent } = browserContext(event);
      const { value, currency, orderId, itemCount } = commerceOf(event);
      const query = {
        action: actionOf(event),
        advertiser: given.advertiser.trim(),
        user_id: given.userId?.trim(),
        timestamp: new Date(event.timeMs).toISOString(),
        device_id: event.visitor.id,
        url: page,
        referrer,
        ip: neededIp(event, 'Podscribe'),
        user_agent: userAgent,
        order_value: value,
        order_number: orderId,
        currency: value === undefined ? undefined : currency,
        discount_code: textOf(event.properties['coupon']),
        hashed_email: hashDatum(knownPerson(event).email, normaliseGmail),
        num_items_purchased: itemCount,
        is_new_customer: flag(event.properties['is_new_customer']),
      };
      return getWith({ url, query, events });
    },
  };
}

const standardAction = platformEventNames('Podscribe');

function actionOf(event: SentEvent): string {
  const own = event.name
    .slice(0, actionCharactersMax)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '');
  const action = standardAction(event) ?? own;
  if (action === '') throw new UnfitEventError('the event has no name that Podscribe accepts');
  return action;
}

function flag(value: unknown): string | undefined {
  return typeof value === 'boolean' ? String(value) : undefined;
}
