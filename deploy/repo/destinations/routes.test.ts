import { describe, expect, it } from 'vitest';
import { destinationKinds } from '../../../shared/destinations/registry.ts';
import type { OfferedKind } from '../../../shared/destinations/common-settings.ts';
import { UnfitEventError } from '../../../shared/destinations/sdk/destination.ts';
import type { OutboundRequest } from '../../../shared/destinations/sdk/destination.ts';
import type { ResolvedEvent } from '../../../shared/contracts/events/resolved-event.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { arrivalMs, messageTime, resolveFactMessages, resolveFactPayload } from './testing/fact-messages.ts';

// In every kind, the same event gives the same request, whether it came by our own API or by a library of Segment or
// RudderStack, so that no kind depends on a name that only one route gives.

const clicks = Object.fromEntries(
  ['admitad_uid', 'postback_id', 'auction_id', '_ef_transaction_id', 'dicbo', 'clickref', 'tblci', 'vwo_uuid'].map(
    (name) => [name, 'click-1'],
  ),
);
const order = {
  order_id: 'o1',
  revenue: 20,
  currency: 'EUR',
  goal_id: '100',
  products: [{ product_id: 'p1', name: 'Tea', price: 10, quantity: 2 }],
  ...clicks,
};
const page = { current_url: 'https://shop.example.com/p', host: 'shop.example.com', pathname: '/p' };
const identityContext = { ip: '203.0.113.7', userAgent: 'Mozilla/5.0' };
const whose = { userId: 'a1', externalId: 'u1', time: Date.parse(messageTime), identityContext };

type Route = readonly [name: string, library: JsonObject, own: Parameters<typeof resolveFactPayload>];

const routes: readonly Route[] = [
  [
    'an order of a known person',
    {
      type: 'track',
      event: 'Order Completed',
      properties: order,
      context: {
        traits: { email: 'ann@example.com', firstName: 'Ann', phone: 15551234567, name: 'Ann Lee', plan: 'pro' },
      },
    },
    [
      'track',
      {
        ...whose,
        event: 'Order Completed',
        eventProperties: order,
        userProperties: {
          email: 'ann@example.com',
          first_name: 'Ann',
          phone_number: '15551234567',
          custom_properties: { name: 'Ann Lee', plan: 'pro' },
        },
        defaultProperties: page,
      },
    ],
  ],
  [
    'an identify',
    { type: 'identify', traits: { email: 'ann@example.com', lastName: 'Lee', address: { postalCode: 2110 } } },
    [
      'identify',
      {
        ...whose,
        userProperties: { email: 'ann@example.com', last_name: 'Lee', zip: '2110' },
        defaultProperties: page,
      },
    ],
  ],
  [
    'an event of an app that can be sent notifications',
    {
      type: 'track',
      event: 'Application Opened',
      properties: clicks,
      context: {
        page: null,
        device: { id: 'DEV-1', token: 'PUSH-1', type: 'ios', advertisingId: 'AD-1' },
        os: { name: 'iOS' },
        app: { namespace: 'com.example.app' },
        traits: { email: 'ann@example.com' },
      },
    },
    [
      'track',
      {
        ...whose,
        event: 'Application Opened',
        eventProperties: clicks,
        userProperties: { email: 'ann@example.com' },
        defaultProperties: {
          device_id: 'DEV-1',
          device_token: 'PUSH-1',
          device_type: 'ios',
          device_advertising_id: 'AD-1',
          os_name: 'iOS',
          app_namespace: 'com.example.app',
        },
      },
    ],
  ],
];

function requestsOf(kind: OfferedKind, resolved: ResolvedEvent | undefined): readonly OutboundRequest[] | string {
  if (resolved === undefined) throw new Error('there is no event');
  const prepared = kind.prepare(kind.exampleSettings);
  if (prepared.accepts?.({ resolved }) === false) return 'skipped';
  try {
    return inTurn(prepared.buildRequest([{ resolved }], arrivalMs));
  } catch (error) {
    if (error instanceof UnfitEventError) return error.message;
    throw error;
  }
}

function inTurn({ next, ...request }: OutboundRequest): readonly OutboundRequest[] {
  // Requests are compared whole: keys and traces derive from the event's id, and nothing names the route.
  return next === undefined ? [request] : [request, ...inTurn(next)];
}

describe.each(routes)('routes: %s', (_name, library, own) => {
  it.each(destinationKinds.map((kind) => [kind.descriptor.id, kind] as const))('%s', (_id, kind) => {
    expect(requestsOf(kind, resolveFactPayload(...own))).toEqual(requestsOf(kind, resolveFactMessages([library])[0]));
  });
});
