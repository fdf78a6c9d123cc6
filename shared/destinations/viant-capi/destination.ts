import type { JsonObject } from '../../runtime/json.ts';
import { browserContext } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { acceptsCustomerEvents, sentEvent } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { postJson, withinBytes } from '../sdk/http.ts';
import { isLimited } from '../sdk/limited-data-use.ts';
import type { OAuthNeed } from '../../egress/oauth-grant.ts';
import { e164Of, hashDatum, hashPerson, knownPerson } from '../sdk/person.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { address, baseUrl, matching, optionalText, readWebUrl, requiredText, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { adSettings } from '../sdk/reading-settings.ts';
import { deviceOf } from '../sdk/device.ts';

const standardUrl = 'https://vdp-connect-api.viantinc.com';
const batchEventsMax = 1_000;
const bodyBytesMax = 10_000_000;
const number = matching(/^\d{1,12}$/, 'must be a number');

const settings = {
  accountId: requiredText({ label: 'Account ID', placeholder: '1234', example: '1234' }, number),
  advertiserId: requiredText({ label: 'Advertiser ID', placeholder: '5678', example: '5678' }, number),
  clientId: requiredText({ label: 'Client ID', sublabel: 'For the Viant API.', example: 'example-client' }),
  clientSecret: token({ label: 'Client secret', example: 'example-secret' }),
  ...adSettings,
  baseUrl: baseUrl(standardUrl),
  tokenUrl: address(
    optionalText({ label: 'Token URL', placeholder: `${standardUrl}/v1/oauth2/authenticate` }, readWebUrl),
  ),
};

/**
 * Viant, conversions: `POST /v1/conversions` with a token from `/v1/oauth2/authenticate`, a list with one object per
 * conversion. Only customers can read https://docs.api.viantinc.com/reference/onboard-onlineoffline-conversion-data, so
 * the format follows https://docs.tealium.com/server-side-connectors/viant-vdp-conversion-api/ and the server tag of
 * stape-io. The event id is `transactionId`, by which Viant deduplicates.
 */
export const viantCapi = defineDestination({
  id: 'ViantCAPI',
  label: 'Viant Conversions API',
  settings,
  facts: {
    sends: 'Every customer event, as a conversion',
    limits: { events: batchEventsMax, bytes: bodyBytesMax },
    deduplicatesBy: 'transactionId',
    errors: 'status of the whole request',
    sources: ['https://docs.tealium.com/server-side-connectors/viant-vdp-conversion-api/'],
    checked: '2026-11-22',
    version: { name: 'v1', ends: undefined },
  },
  loadPlatform: async () => (await import('./platform.ts')).viantPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl}/v1/conversions`;
  const oauth: OAuthNeed = {
    grant: {
      tokenUrl: given.tokenUrl ?? `${given.baseUrl}/v1/oauth2/authenticate`,
      by: { kind: 'client-credentials' },
      client: { id: given.clientId.trim(), secret: given.clientSecret, sentIn: 'basic' },
    },
  };
  const whose = { accountId: Number(given.accountId), advertisers: [Number(given.advertiserId)] };
  return {
    batchEventsMax,
    // Viant has no field for limited use, so a limited event is skipped.
    accepts: (event) => acceptsCustomerEvents(event) && !isLimited(sentEvent(event)),
    buildRequest(events) {
      const body = events.map((event) => ({ ...whose, salesData: salesData(sentEvent(event, given)) }));
      return { ...withinBytes(postJson({ url, body, events }), bodyBytesMax), oauth };
    },
  };
}

function salesData(event: SentEvent): JsonObject {
  const { value, currency, items } = commerceOf(event);
  return {
    transactionId: event.deduplicationId,
    conversionEventType: standardName(event) ?? event.name,
    conversionTimestamp: new Date(event.timeMs).toISOString(),
    identifiers: identifiersOf(event),
    amount: value,
    currency: value === undefined ? undefined : currency,
    purchasedItems:
      items.length === 0
        ? undefined
        : items.map(({ id, name, category, price, quantity }) => ({
            itemId: id,
            productName: name,
            productCategory: category,
            price,
            quantity,
          })),
  };
}

const standardName = platformEventNames('ViantCAPI');

function identifiersOf(event: SentEvent): readonly JsonObject[] {
  const person = knownPerson(event);
  const { ip } = browserContext(event);
  const known = {
    email_sha256: hashPerson(person).email,
    phonenumber_sha256: hashDatum(person.phone, e164Of(person)),
    ip,
    mobile_id: deviceOf(event).advertisingId,
  };
  const identifiers = Object.entries(known).flatMap(([type, value]) => (value === undefined ? [] : [{ type, value }]));
  if (identifiers.length === 0) throw new UnfitEventError('the event has no identifier that Viant could match');
  return identifiers;
}
