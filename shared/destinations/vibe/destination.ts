import { browserContext } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { defineDestination, onlyEvent, UnfitEventError } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { checkAge, sentEvent, textOf } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { present } from '../sdk/json.ts';
import { knownPerson, normaliseEmail } from '../sdk/person.ts';
import { baseUrl, matching, requiredText } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { visitorIp } from '../sdk/visitor-headers.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { acceptsUnlimitedEvents } from '../sdk/limited-data-use.ts';
import { adSettings } from '../sdk/reading-settings.ts';

const daysMax = 7;

const settings = {
  pixelId: requiredText({
    label: 'Pixel ID',
    placeholder: 'AbC123',
    sublabel: "The advertiser's pixel, from Vibe, Pixels.",
    example: 'AbC123',
  }),
  partner: requiredText(
    {
      label: 'Partner name',
      placeholder: 'example',
      sublabel: 'The last segment of the address from Vibe: …/s2s-conversion/events/example.',
      example: 'example',
    },
    matching(/^[A-Za-z0-9_-]{1,64}$/, 'must contain only letters, digits, - and _'),
  ),
  ...adSettings,
  baseUrl: baseUrl('https://t.vibe.co'),
};

/**
 * Vibe, server-to-server conversions: `POST /s2s-conversion/events/{partner}`, one event per request, at most 7 days
 * old, without authentication, as Vibe's own integration in https://github.com/segmentio/action-destinations
 * (destinations/vibe-conversions) sends it. Vibe assigns the partner name. A visitor is identified by an IPv4
 * address, else by the e-mail address; an event that is none of Vibe's six kinds is skipped. The event id is `eid`, by
 * which Vibe deduplicates.
 */
export const vibe = defineDestination({
  id: 'Vibe',
  label: 'Vibe conversions',
  settings,
  facts: {
    sends: 'Events that the platform has a name for, with an IPv4 or e-mail address',
    limits: { events: 1, ageDays: 7 },
    deduplicatesBy: 'eid',
    errors: 'status',
    sources: [
      'https://github.com/segmentio/action-destinations/tree/main/packages/destination-actions/src/destinations/vibe-conversions',
    ],
    checked: '2026-11-29',
    version: 'unversioned',
  },
  loadPlatform: async () => (await import('./platform.ts')).vibePlatform,
  prepare,
});

const eventName = platformEventNames('Vibe');

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl}/s2s-conversion/events/${given.partner}`;
  return {
    batchEventsMax: 1,
    accepts: (event) => acceptsUnlimitedEvents(event) && eventName(sentEvent(event)) !== undefined,
    buildRequest(events, nowMs) {
      const event = sentEvent(onlyEvent(events), { ...given, defaultCurrency: given.defaultCurrency ?? 'USD' });
      const action = eventName(event);
      if (action === undefined) throw new UnfitEventError('Vibe has no such event');
      checkAge(event, nowMs, daysMax);
      const { url: page, userAgent } = browserContext(event);
      const { value, currency, orderId } = commerceOf(event);
      // Vibe takes every amount as US dollars, so an amount in another or unreadable currency is left out.
      const ip = visitorIp(event, 4);
      const { email } = knownPerson(event);
      // An e-mail address goes unhashed, so only where Vibe has no IP address to match.
      const em = ip === undefined && email !== undefined ? normaliseEmail(email) : undefined;
      if (ip === undefined && em === undefined) {
        throw new UnfitEventError('Vibe needs an IPv4 address or an e-mail address of the visitor');
      }
      const data = present({
        purchase_id: orderId,
        price_usd: currency === 'USD' ? value : undefined,
      });
      const body = {
        a: action,
        eid: event.deduplicationId,
        aid: given.pixelId.trim(),
        ts: event.timeMs,
        ip,
        em,
        ed: data === undefined ? undefined : JSON.stringify(data),
        gid: textOf(event.context['ga_client_id']),
        ua: userAgent,
        url: page,
      };
      return postJson({ url, body, events });
    },
  };
}
