import type { OutboundEvent } from '../sdk/destination.ts';
import { sampleShopper } from './sample-shopper.ts';

/** Click ids that ads leave in a visit, under each platform's name. */
const clickIds = {
  gclid: 'Cj0KCQ-example',
  msclkid: 'example-msclkid',
  twclid: 'example-twclid',
  ttclid: 'example-ttclid',
  fbc: 'fb.1.1700000000000.AbCd',
  fbp: 'fb.1.1700000000000.1098115397',
  li_fat_id: 'df5f8d7e-aaaa-4bbb-8ccc-1234567890ab',
  rdt_cid: 'example-rdt-cid',
  ScCid: '6f8f6ac0-1b1a-4b1a-9c9c-000000000000',
  epik: 'dj0yJnU9example',
  dclid: 'example-dclid',
  _ef_transaction_id: 'example-everflow-click',
  admitad_uid: 'example-admitad-click',
  auction_id: '1234567890123.45.6',
  clickref: '1011lExample',
  dicbo: 'v2-example',
  irclickid: 'example-irclickid',
  ndclid: 'example-ndclid',
  oppref: 'example-oppref',
  postback_id: 'example-postback',
  qclid: 'example-qclid',
  rtid: 'example-rtid',
  tblci: 'GiC-example',
  vwo_uuid: 'D0E1A2M3P4L5E6000000000000000001',
};

/** Events that most kinds send, to try a kind against its scripted platform. */
export const sampleVisitEvents = [
  'Order Completed',
  'Product Added',
  'Product Viewed',
  'Page Viewed',
  'Signed Up',
  'Quiz Finished',
  '$identify',
] as const;

/**
 * One event of a visitor who arrived from an ad and bought something, with every field set. Each value
 * of `nth` gives a different visitor.
 */
export function sampleVisit(timeMs: number, nth = 1, event: string = sampleVisitEvents[0]): OutboundEvent {
  const shopper = sampleShopper({
    event,
    id: `visit-event-${nth}`,
    time: timeMs,
    context: {
      current_url: 'https://shop.example.com/thanks?utm_source=mail',
      referrer: 'https://shop.example.com/cart',
      ip: '203.0.113.7',
      user_agent: 'Mozilla/5.0 (X11; Linux x86_64)',
      ...clickIds,
    },
    visitor: {
      id: `visitor-${nth}`,
      external_id: `customer-${nth}`,
      email: `ada.${nth}@example.com`,
      city: 'London',
      zip: 'SW1A 1AA',
      custom_properties: { plan: 'pro' },
    },
    properties: event.startsWith('$') ? {} : orderOf(nth),
  });
  const { resolved } = shopper;
  return { resolved: { ...resolved, event: { ...resolved.event, received_at: timeMs } } };
}

/** A unique order, so that the platform does not deduplicate two events of a batch. */
function orderOf(nth: number) {
  return {
    order_id: `A-${1_000 + nth}`,
    value: 42.5,
    currency: 'eur',
    products: [{ product_id: 'tea-1', name: 'Tea', category: 'Drinks', brand: 'Leaf', price: 21.25, quantity: 2 }],
  };
}
