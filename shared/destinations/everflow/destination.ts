import { defineClickPostback } from '../sdk/click-postback.ts';
import { conversionEvents } from '../sdk/conversion-events.ts';
import { address, readWebUrl, requiredText, SettingError } from '../sdk/settings.ts';
import { textOf } from '../sdk/event.ts';

const settings = {
  url: address(
    requiredText(
      {
        label: 'Postback URL',
        placeholder: 'https://www.example-tracking.com/?nid=123',
        sublabel:
          'As shown in Everflow for the offer, under server postback. Other parameters such as event_id and oid are kept.',
        example: 'https://www.example-tracking.com/?nid=123&event_id=7',
      },
      readPostback,
    ),
  ),
  conversionEvents: conversionEvents(),
};

/**
 * Everflow, server postbacks: a GET to the tracking domain with the network's `nid` and the click's `transaction_id`,
 * without authentication. https://helpdesk.everflow.io/customer/accessing-editing-s2s-postback-urls. The id has the
 * names that https://github.com/stape-io/everflow-tag uses (`_ef_transaction_id` on the landing page, the cookie
 * `ef_transaction_id`). There is no field for the event time, so a conversion counts at the time of arrival.
 */
export const everflow = defineClickPostback({
  id: 'Everflow',
  label: 'Everflow server postback',
  clickNames: ['_ef_transaction_id', 'ef_transaction_id'],
  settings,
  facts: {
    sends: 'Conversions that have a click id',
    limits: { events: 1 },
    deduplicatesBy: 'transaction_id',
    errors: 'status',
    sources: [
      'https://helpdesk.everflow.io/customer/accessing-editing-s2s-postback-urls',
      'https://github.com/stape-io/everflow-tag',
    ],
    checked: '2026-11-22',
    version: 'unversioned',
  },
  loadPlatform: async () => (await import('./platform.ts')).everflowPlatform,
  accepts: (given, event) => given.conversionEvents(event),
  postback: (given, { click, properties, commerce: { value, currency, orderId } }) => ({
    url: given.url,
    query: {
      transaction_id: click,
      amount: value,
      currency: value === undefined ? undefined : currency,
      order_id: orderId,
      coupon_code: textOf(properties['coupon']),
    },
  }),
});

/** Parameters that are set from each event, and therefore removed from the postback URL in the settings. */
const ownParameters = ['transaction_id', 'amount', 'currency', 'order_id', 'coupon_code'];

function readPostback(text: string, key: string): string {
  const url = new URL(readWebUrl(text.trim(), key));
  if ((url.searchParams.get('nid') ?? '') === '') throw new SettingError(key, 'must contain the network as nid');
  for (const name of ownParameters) url.searchParams.delete(name);
  return url.href;
}
