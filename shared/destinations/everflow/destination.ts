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
          'As Everflow shows it for the offer, server postback. What it names beside nid (event_id, oid …) is kept.',
        example: 'https://www.example-tracking.com/?nid=123&event_id=7',
      },
      readPostback,
    ),
  ),
  conversionEvents: conversionEvents(),
};

/**
 * Everflow, server postbacks: a GET to the tracking domain with the network's `nid` and the `transaction_id` of the
 * click, without authentication. https://helpdesk.everflow.io/customer/accessing-editing-s2s-postback-urls. The id is
 * found under the names that https://github.com/stape-io/everflow-tag gives it (`_ef_transaction_id` of the landing page,
 * the cookie `ef_transaction_id`). It takes no time: a conversion counts when it arrives.
 */
export const everflow = defineClickPostback({
  id: 'Everflow',
  label: 'Everflow server postback',
  clickNames: ['_ef_transaction_id', 'ef_transaction_id'],
  settings,
  facts: {
    sends: 'Conversions, with the id of their click',
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

/** What each event says of its own; the rest of the address is the customer's. */
const ownParameters = ['transaction_id', 'amount', 'currency', 'order_id', 'coupon_code'];

function readPostback(text: string, key: string): string {
  const url = new URL(readWebUrl(text.trim(), key));
  if ((url.searchParams.get('nid') ?? '') === '') throw new SettingError(key, 'must name the network in nid');
  for (const name of ownParameters) url.searchParams.delete(name);
  return url.href;
}
