import { createHash } from 'node:crypto';
import { jsonAnswer, rowRefusal } from '../sdk/answers.ts';
import { browserContext, browserId } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import type { CommerceItem } from '../sdk/commerce.ts';
import { conversionEvents } from '../sdk/conversion-events.ts';
import { defineDestination, onlyEvent, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundAnswer, Outcome, PreparedDestination } from '../sdk/destination.ts';
import { acceptsCustomerEvents, sentEvent, textOf } from '../sdk/event.ts';
import { basicAuthorization } from '../../egress/basic-authorization.ts';
import { postForm } from '../sdk/http.ts';
import { contactIds, isHash, normaliseEmail } from '../sdk/person.ts';
import { baseUrl, requiredText, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { isLimited } from '../sdk/limited-data-use.ts';
import { defaultCurrency } from '../sdk/reading-settings.ts';

const itemsMax = 100;

const settings = {
  accountSid: requiredText({
    label: 'Account SID',
    placeholder: 'IRExampleAccountSid',
    sublabel: 'Settings, API access.',
    example: 'IRExampleAccountSid',
  }),
  authToken: token({ label: 'Auth token', sublabel: 'Beside the account SID.', example: 'example-token' }),
  campaignId: requiredText({
    label: 'Program ID',
    placeholder: '1000',
    sublabel: 'CampaignId of the program.',
    example: '1000',
  }),
  actionTrackerId: requiredText({
    label: 'Event type ID',
    placeholder: '20000',
    sublabel: 'ActionTrackerId of the event type that conversions are of.',
    example: '20000',
  }),
  conversionEvents: conversionEvents(),
  defaultCurrency: defaultCurrency(),
  baseUrl: baseUrl('https://api.impact.com'),
};

/**
 * impact.com, conversions of a brand: `POST /Advertisers/{AccountSID}/Conversions`, a form, one conversion a request.
 * Its OpenAPI document: https://github.com/api-evangelist/impact (openapi, brand conversions, v14). A conversion is attributed by the id of
 * the click (`irclickid` of the landing page) or of the customer, and one with neither is refused; impact.com knows a
 * repeated one by its `OrderId`. The e-mail address goes as a SHA-1.
 */
export const impact = defineDestination({
  id: 'Impact',
  label: 'impact.com conversions',
  settings,
  facts: {
    sends: 'Conversions, by click or customer',
    limits: { events: 1 },
    deduplicatesBy: 'OrderId',
    errors: '`Status` of the answer, and the fields it refuses',
    sources: ['https://github.com/api-evangelist/impact', 'https://github.com/stape-io/impact-tag'],
    checked: '2026-11-22',
    version: 'unversioned',
    namesElsewhere: ['Impact Partnership Cloud', 'impact.com'],
  },
  loadPlatform: async () => (await import('./platform.ts')).impactPlatform,
  exampleSuccess: { status: 200, body: '{"Status":"QUEUED","QueuedUri":"/Advertisers/IR1/APISubmissions/A-1"}' },
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const account = given.accountSid.trim();
  const url = `${given.baseUrl}/Advertisers/${encodeURIComponent(account)}/Conversions`;
  const headers = { authorization: basicAuthorization(account, given.authToken), accept: 'application/json' };
  return {
    batchEventsMax: 1,
    accepts: (event) => acceptsCustomerEvents(event) && given.conversionEvents(event),
    buildRequest(events) {
      const outbound = onlyEvent(events);
      const event = sentEvent(outbound, given);
      const { url: page, referrer, ip, userAgent } = browserContext(event);
      const { externalId, email } = contactIds(outbound);
      // Where the data of a person may be used in a limited way only, nothing but the click is sent.
      const person = {
        CustomerId: externalId,
        CustomerEmail: email === undefined ? undefined : sha1Email(email),
        CustomProfileId: event.visitor.id,
        IpAddress: ip,
        UserAgent: userAgent,
      };
      const limited = isLimited(event);
      const { value, currency, orderId, items } = commerceOf(event);
      const click = browserId(event, ['irclickid', 'im_ref', 'impact_cid']);
      if (click === undefined && (externalId === undefined || limited)) {
        throw new UnfitEventError('the event has no id of a click (irclickid), and its visitor no external id');
      }
      const body = {
        CampaignId: given.campaignId.trim(),
        ActionTrackerId: given.actionTrackerId.trim(),
        EventDate: new Date(event.timeMs).toISOString(),
        OrderId: orderId ?? event.deduplicationId,
        ClickId: click,
        ...(limited ? {} : person),
        CurrencyCode: currency,
        OrderPromoCode: textOf(event.properties['coupon']),
        PageUrl: page,
        ReferringUrl: referrer,
        ...itemsOf(items, value),
      };
      return postForm({ url, headers, body, events });
    },
    readAnswer: (answer, events) => (events.length === 1 ? readStatus(answer) : undefined),
  };
}

function sha1Email(text: string): string | undefined {
  const email = isHash(text) ? undefined : normaliseEmail(text);
  return email === undefined ? undefined : createHash('sha1').update(email).digest('hex');
}

/** Goods by their place, from 1 on; the whole amount where the event names none. */
function itemsOf(
  items: readonly CommerceItem[],
  value: number | undefined,
): Readonly<Record<string, string | number | undefined>> {
  const sold = items.slice(0, itemsMax).filter(({ price }) => price !== undefined);
  if (sold.length === 0) return value === undefined ? {} : { Amount: value };
  return Object.fromEntries(
    sold.flatMap(({ id, name, category, brand, price, quantity }, index) =>
      Object.entries({
        ItemSku: id,
        ItemName: name,
        ItemCategory: category,
        ItemBrand: brand,
        ItemPrice: price,
        ItemQuantity: quantity,
      }).map(([key, text]) => [`${key}${index + 1}`, text]),
    ),
  );
}

/** A 200 may say ERROR too; a 400 names the fields. */
function readStatus(answer: OutboundAnswer): readonly Outcome[] | undefined {
  if (answer.status !== 200 && answer.status !== 400) return undefined;
  const body = jsonAnswer(answer);
  if (body?.['Status'] !== 'ERROR') return undefined;
  const errors: unknown = body['errors'];
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined;
  const field = typeof first === 'object' && first !== null && 'field' in first ? first.field : undefined;
  return [{ kind: 'reject', reason: rowRefusal(field) }];
}
