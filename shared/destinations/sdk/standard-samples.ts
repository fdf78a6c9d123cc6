import { aliasEvent } from '../../contracts/events/envelope.ts';
import type { ResolvedEvent } from '../../contracts/events/resolved-event.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { DestinationKind } from './destination.ts';
import { groupEvent, identifyEvent, screenEvent } from './event.ts';
import { sampleEventFor } from './sample-event.ts';
import { standardEvents } from './standard-events.ts';
import type { StandardEvent } from './standard-events.ts';

/** A call or event of the specification, as an event with made-up properties. */
export type StandardSample = {
  /** `identify`, `Order Completed`. */
  readonly label: string;
  readonly event: string;
  readonly properties: JsonObject;
};

// Every value is unique, so that a request shows which field received it.
const product = {
  product_id: 'tea-1',
  sku: 'SKU-77',
  name: 'Green Tea',
  category: 'Drinks',
  brand: 'Leafy',
  variant: 'Loose',
  price: 21.25,
  quantity: 2,
  coupon: 'TEATIME',
  position: 3,
  url: 'https://shop.example.com/tea',
  image_url: 'https://shop.example.com/tea.jpg',
};
const oneProduct = { ...product, currency: 'EUR' };
const checkout = {
  checkout_id: 'C-2002',
  order_id: 'A-1001',
  value: 42.5,
  currency: 'EUR',
  coupon: 'SPRING',
  products: [product],
};
const order = {
  ...checkout,
  affiliation: 'Shop Example',
  tax: 6.79,
  shipping: 4.9,
  discount: 5.5,
};
const promotion = { promotion_id: 'P-3003', name: 'Tea Week', creative: 'banner-1', position: 'home_top' };

const propertiesOf: Readonly<Partial<Record<StandardEvent, JsonObject>>> = {
  pageView: { name: 'Home', category: 'Start', title: 'Home of Example', path: '/' },
  viewContent: oneProduct,
  viewList: { list_id: 'L-4004', category: 'Drinks', products: [product] },
  selectItem: oneProduct,
  search: { query: 'green tea' },
  addToCart: { ...oneProduct, cart_id: 'K-5005' },
  removeFromCart: { ...oneProduct, cart_id: 'K-5005' },
  viewCart: { cart_id: 'K-5005', currency: 'EUR', products: [product] },
  addToWishlist: { ...oneProduct, wishlist_id: 'W-6006', wishlist_name: 'Birthday' },
  startCheckout: checkout,
  addShippingInfo: { ...checkout, shipping_method: 'Courier' },
  addPaymentInfo: { ...checkout, payment_method: 'Visa' },
  purchase: order,
  placeOrder: order,
  refund: order,
  cancelOrder: { ...order, reason: 'changed mind' },
  viewPromotion: promotion,
  selectPromotion: promotion,
  share: { ...oneProduct, share_via: 'email' },
  signUp: { method: 'email' },
  login: { method: 'email' },
  lead: { value: 12.5, currency: 'EUR' },
  submitForm: { form_id: 'newsletter' },
  subscribe: { value: 9.5, currency: 'EUR', plan: 'yearly' },
  startTrial: { value: 9.5, currency: 'EUR', plan: 'yearly' },
  appInstall: { version: '1.2.3' },
  appOpen: { version: '1.2.3' },
};

const standardEventSamples = Object.entries(standardEvents).map(([event, { label }]) => ({
  label,
  event: label,
  properties: propertiesOf[event as StandardEvent] ?? {},
}));

/** Identify, group, alias, page and screen calls, then every standard event. */
export const standardSamples: readonly StandardSample[] = [
  { label: 'identify', event: identifyEvent, properties: {} },
  { label: 'page', event: 'Page Viewed', properties: propertiesOf.pageView ?? {} },
  { label: 'screen', event: screenEvent, properties: { name: 'Home', category: 'Start' } },
  { label: 'group', event: groupEvent, properties: { group_id: 'acme', name: 'Acme' } },
  { label: 'alias', event: aliasEvent, properties: { id: 'customer-7', previous_id: 'device-7' } },
  ...standardEventSamples.filter(({ event }) => event !== 'Page Viewed'),
];

/** A customer with every field set, each to a value that can be found in a request. */
export const knownVisitor = {
  id: '0197a0c4-5e00-7000-8000-00000000a0da',
  external_id: 'customer-7',
  email: 'ada@example.com',
  phone_number: '+14155550123',
  first_name: 'Adamina',
  last_name: 'Lovelacey',
  city: 'Brightonia',
  zip: '94107',
  custom_properties: { plan: 'pro' },
};

/** A sample as an event of `knownVisitor`, with the properties that a kind's platform requires. */
export function resolvedSample(
  kind: Pick<DestinationKind, 'exampleProperties'>,
  { event, properties }: StandardSample,
): ResolvedEvent {
  return { ...sampleEventFor(kind, { event, event_properties: properties }), visitor: knownVisitor };
}
