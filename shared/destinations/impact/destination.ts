import { createHash } from 'node:crypto';
import { jsonAnswer, rowRefusal } from '../sdk/answers.ts';
import { browserContext, browserId } from '../sdk/browser-context.ts';
import { arePriced, commerceOf } from '../sdk/commerce.ts';
import type { Commerce } from '../sdk/commerce.ts';
import { conversionEvents } from '../sdk/conversion-events.ts';
import { defineDestination, onlyEvent, UnfitEventError } from '../sdk/destination.ts';
import type {
  OutboundAnswer,
  OutboundEvent,
  OutboundRequest,
  Outcome,
  PreparedDestination,
} from '../sdk/destination.ts';
import { acceptsCustomerEvents, outboundName, screenEvent, sentEvent, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { standardEventOf } from '../sdk/standard-events.ts';
import { deviceOf, isOfApp } from '../sdk/device.ts';
import { basicAuthorization } from '../../egress/basic-authorization.ts';
import { postForm } from '../sdk/http.ts';
import { contactIds, isHash, normaliseEmail } from '../sdk/person.ts';
import { baseUrl, matching, optionalText, requiredText, toggle, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { isLimited } from '../sdk/limited-data-use.ts';
import { defaultCurrency } from '../sdk/reading-settings.ts';

const standardUrl = 'https://api.impact.com';
const itemsMax = 100;

const settings = {
  accountSid: requiredText({
    label: 'Account SID',
    placeholder: 'IRExampleAccountSid',
    sublabel: 'From Settings, API access.',
    example: 'IRExampleAccountSid',
  }),
  authToken: token({ label: 'Auth token', sublabel: 'Next to the account SID.', example: 'example-token' }),
  campaignId: requiredText({
    label: 'Program ID',
    placeholder: '1000',
    sublabel: 'The CampaignId of the program.',
    example: '1000',
  }),
  actionTrackerId: requiredText({
    label: 'Event type ID',
    placeholder: '20000',
    sublabel: "ActionTrackerId of the conversions' event type.",
    example: '20000',
  }),
  conversionEvents: conversionEvents(),
  pageLoads: toggle({
    label: 'Page loads',
    sublabel:
      'Sends page views as page loads, and screens too if there is an app ID. impact.com attributes later conversions to page loads.',
  }),
  appId: optionalText(
    {
      label: 'App ID',
      placeholder: '12345',
      sublabel: 'System App ID of your app, from Settings, Mobile apps. Page loads in an app are sent as app opens.',
    },
    matching(/^\d{1,20}$/, 'must be a number'),
  ),
  defaultCurrency: defaultCurrency(),
  baseUrl: baseUrl(standardUrl),
};

/**
 * impact.com, conversions of a brand: `POST /Advertisers/{AccountSID}/Conversions`, a form, one conversion per request.
 * OpenAPI document: https://github.com/api-evangelist/impact (openapi, brand conversions, v14). A conversion is
 * attributed by click id (`irclickid` of the landing page) or customer id, and refused without either. impact.com
 * deduplicates by `OrderId`. The e-mail address is sent as SHA-1. Page loads go to another server, without
 * credentials: https://integrations.impact.com/brand-api-reference/reference/page-load/page-load.
 */
export const impact = defineDestination({
  id: 'Impact',
  label: 'impact.com conversions',
  settings,
  facts: {
    sends: 'Conversions, by click or customer; page views as page loads if enabled',
    limits: { events: 1 },
    deduplicatesBy: 'OrderId',
    errors: '`Status` in the response, and the refused fields',
    sources: [
      'https://github.com/api-evangelist/impact',
      'https://github.com/stape-io/impact-tag',
      'https://integrations.impact.com/brand-api-reference/reference/page-load/page-load',
    ],
    checked: '2026-11-27',
    version: 'unversioned',
    notCarried: [
      'identify calls as page loads: each page load already identifies its visitor',
      'custom names for product properties: use a mapping to rename them',
    ],
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
    accepts: (event) => acceptsCustomerEvents(event) && (given.conversionEvents(event) || isPageLoad(event, given)),
    buildRequest(events) {
      const outbound = onlyEvent(events);
      if (!given.conversionEvents(outbound)) return pageLoad(outbound, given, events);
      const event = sentEvent(outbound, given);
      const { url: page, referrer } = browserContext(event);
      const limited = isLimited(event);
      const commerce = commerceOf(event);
      const { currency, orderId } = commerce;
      const click = browserId(event, ['irclickid', 'im_ref', 'impact_cid', 'click_id', 'clickId']);
      if (click === undefined && (customerIdOf(outbound) === undefined || limited)) {
        throw new UnfitEventError('the event has no click id (irclickid), and its visitor no external id');
      }
      const body = {
        CampaignId: given.campaignId.trim(),
        ActionTrackerId: given.actionTrackerId.trim(),
        EventDate: new Date(event.timeMs).toISOString(),
        OrderId: orderId ?? event.deduplicationId,
        ClickId: click,
        ...personOf(outbound, event),
        CurrencyCode: currency,
        OrderPromoCode: textOf(event.properties['coupon']),
        PageUrl: page,
        ReferringUrl: referrer,
        ...appOf(event),
        ...amountsOf(commerce),
      };
      return postForm({ url, headers, body, events });
    },
    readAnswer: (answer, events) => (events.length === 1 ? readStatus(answer) : undefined),
  };
}

/** The customer's id, unless it looks like an e-mail address, which impact.com forbids. */
function customerIdOf(outbound: OutboundEvent): string | undefined {
  const { externalId } = contactIds(outbound);
  return externalId?.includes('@') === true ? undefined : externalId;
}

/** The person's identifiers; empty if data use is limited: such an event is sent only with its click or page. */
function personOf(outbound: OutboundEvent, event: SentEvent): Readonly<Record<string, string | undefined>> {
  if (isLimited(event)) return {};
  const { email } = contactIds(outbound);
  const { ip, userAgent } = browserContext(event);
  return {
    CustomerId: customerIdOf(outbound),
    CustomerEmail: email === undefined ? undefined : sha1Email(email),
    CustomProfileId: event.visitor.id,
    IpAddress: ip,
    UserAgent: userAgent,
  };
}

type Given = SettingsOf<typeof settings>;

function isPageLoad(event: OutboundEvent, { pageLoads, appId }: Given): boolean {
  if (!pageLoads) return false;
  const name = outboundName(event);
  return name === screenEvent ? appId !== undefined : standardEventOf(name) === 'pageView';
}

/** The request for a page load, or for the opening of an app. */
function pageLoad(outbound: OutboundEvent, given: Given, events: readonly OutboundEvent[]): OutboundRequest {
  const event = sentEvent(outbound, given);
  const { url: page, referrer } = browserContext(event);
  const isApp = given.appId !== undefined && isOfApp(event);
  if (page === undefined && !isApp) throw new UnfitEventError('a page load needs the page address');
  const body = {
    CampaignId: given.campaignId.trim(),
    PageUrl: page,
    EventDate: new Date(event.timeMs).toISOString(),
    ReferringUrl: referrer,
    ...personOf(outbound, event),
    ...(isApp ? { PropertyId: given.appId } : {}),
    ...appOf(event),
  };
  const root = given.baseUrl === standardUrl ? 'https://trkapi.impact.com' : given.baseUrl;
  return postForm({ url: `${root}/PageLoad`, headers: { accept: 'application/json' }, body, events });
}

/** App and device of an app event; empty for other events. Device ids are left out if data use is limited. */
function appOf(event: SentEvent): Readonly<Record<string, string | undefined>> {
  if (!isOfApp(event)) return {};
  const { platform, advertisingId, vendorId } = deviceOf(event);
  const text = (name: string): string | undefined => textOf(event.context[name]);
  const ids = {
    AppleIfa: platform === 'ios' ? advertisingId : undefined,
    AppleIfv: platform === 'ios' ? vendorId : undefined,
    GoogAId: platform === 'android' ? advertisingId : undefined,
    AndroidId: platform === 'android' ? text('device_id') : undefined,
  };
  return {
    AppName: text('app_name'),
    AppPackage: text('app_namespace'),
    AppVer: text('app_version'),
    DeviceMfr: text('device_manufacturer'),
    DeviceModel: text('device_model'),
    DeviceOs: text('os_name'),
    DeviceOsVer: text('os_version'),
    DeviceLocale: text('locale'),
    DeviceCarrier: text('network_carrier'),
    ...(isLimited(event) ? {} : ids),
  };
}

function sha1Email(text: string): string | undefined {
  const email = isHash(text) ? undefined : normaliseEmail(text);
  return email === undefined ? undefined : createHash('sha1').update(email).digest('hex');
}

/** The products, as fields numbered from 1; the total amount if the products cannot represent the whole order. */
function amountsOf({ items, value }: Commerce): Readonly<Record<string, string | number | undefined>> {
  if (!arePriced(items, itemsMax)) return value === undefined ? {} : { Amount: value };
  return Object.fromEntries(
    items.flatMap(({ id, name, category, brand, price, quantity, others }, index) =>
      Object.entries({
        ItemSku: id,
        ItemName: name,
        ItemCategory: category,
        ItemBrand: brand,
        ItemPromoCode: textOf(others['coupon']),
        ItemPrice: price,
        ItemQuantity: quantity,
      }).map(([key, text]) => [`${key}${index + 1}`, text]),
    ),
  );
}

/** The outcome of a 200 or a 400 whose body has the status ERROR; the reason is the first invalid field. */
function readStatus(answer: OutboundAnswer): readonly Outcome[] | undefined {
  if (answer.status !== 200 && answer.status !== 400) return undefined;
  const body = jsonAnswer(answer);
  if (body?.['Status'] !== 'ERROR') return undefined;
  const errors: unknown = body['errors'];
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined;
  const field = typeof first === 'object' && first !== null && 'field' in first ? first.field : undefined;
  return [{ kind: 'reject', reason: rowRefusal(field) }];
}
