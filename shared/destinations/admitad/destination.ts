import { defineClickPostback } from '../sdk/click-postback.ts';
import type { ClickConversion, PostbackQuery } from '../sdk/click-postback.ts';
import { conversionEvents } from '../sdk/conversion-events.ts';
import { textOf } from '../sdk/event.ts';
import { isLimited } from '../sdk/limited-data-use.ts';
import { knownPerson } from '../sdk/person.ts';
import { baseUrl, choice, requiredText, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';

const settings = {
  campaignCode: requiredText({ label: 'Campaign code', placeholder: 'a1b2c3d4e5', example: 'a1b2c3d4e5' }),
  postbackKey: token({
    label: 'Postback key',
    sublabel: 'Key of the program. Admitad accepts it in the URL only.',
    example: 'example-postback-key',
  }),
  actionCode: requiredText({
    label: 'Action code',
    placeholder: '1',
    sublabel: 'Code of the target action.',
    example: '1',
  }),
  tariffCode: requiredText({
    label: 'Tariff code',
    placeholder: '1',
    sublabel: "Code of the action's tariff.",
    example: '1',
  }),
  paymentType: choice({
    label: 'Payment type',
    options: ['sale', 'lead'],
    sublabel: 'The kind of conversion that the program pays for.',
    fallback: 'sale',
    example: 'sale',
  }),
  conversionEvents: conversionEvents(),
  baseUrl: baseUrl('https://ad.admitad.com'),
};

/**
 * Admitad, postback requests: `GET /tt?postback=1` with the click id (`admitad_uid` of the landing page, stored in
 * the cookie `_aid`). https://support.mitgo.com/knowledge-base/article/integration-via-postback-request_2, in the
 * form that https://github.com/stape-io/admitad-tag sends. An order is sent as one position with its total price;
 * Admitad deduplicates orders by `order_id`. It always responds 200, so a wrong code or key shows only in Admitad's
 * reports. The request has no field for the event time.
 */
export const admitad = defineClickPostback({
  id: 'Admitad',
  label: 'Admitad postback',
  clickNames: ['admitad_uid', '_aid'],
  settings,
  facts: {
    sends: 'Conversions that have a click id',
    limits: { events: 1 },
    deduplicatesBy: 'order_id',
    errors: 'none: it always responds 200',
    sources: [
      'https://support.mitgo.com/knowledge-base/article/integration-via-postback-request_2',
      'https://github.com/stape-io/admitad-tag',
    ],
    checked: '2026-11-22',
    version: 'unversioned',
  },
  loadPlatform: async () => (await import('./platform.ts')).admitadPlatform,
  accepts: (given, event) => given.conversionEvents(event),
  postback: (given, conversion) => ({
    url: `${given.baseUrl}/tt`,
    query: queryOf(given, conversion),
  }),
});

function queryOf(given: SettingsOf<typeof settings>, conversion: ClickConversion): PostbackQuery {
  const { click, deduplicationId, properties, commerce } = conversion;
  const { value, currency, orderId, itemCount } = commerce;
  return {
    postback: 1,
    response_type: 'img',
    campaign_code: given.campaignCode.trim(),
    postback_key: given.postbackKey,
    action_code: given.actionCode.trim(),
    tariff_code: given.tariffCode.trim(),
    payment_type: given.paymentType,
    uid: click,
    order_id: orderId ?? deduplicationId,
    position_id: 1,
    position_count: 1,
    quantity: itemCount ?? 1,
    price: value,
    currency_code: value === undefined ? undefined : currency,
    promocode: textOf(properties['coupon']),
    client_id: isLimited(conversion) ? undefined : knownPerson(conversion).externalId,
  };
}
