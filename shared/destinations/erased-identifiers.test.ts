import { expect, test } from 'vitest';
import type { OutboundRequest } from '../egress/outbound.ts';
import type { JsonObject } from '../runtime/json.ts';
import { destinationKinds } from './registry.ts';
import { UnfitEventError } from './sdk/destination.ts';
import type { ErasureStep } from './sdk/erasure.ts';
import { sampleErasure } from './testing/sample-erasure.ts';
import { sampleShopper } from './testing/sample-shopper.ts';

const nowMs = 1_700_000_060_000;
/** One of these, or the MD5 of an e-mail address. */
const isIdentifier = /device-1|customer-7|ann@example\.com|41791234567|^[0-9a-f]{32}$/;

/** Visitors of whom only one identifier is known, besides the visitor id. */
const knownBy: Readonly<Record<string, JsonObject>> = {
  'visitor id': {},
  'external id': { external_id: 'customer-7' },
  'e-mail address': { email: 'ann@example.com' },
  'phone number': { phone_number: '+41791234567' },
};
const unknown = { id: 'device-1', external_id: null, email: null, phone_number: null, country: null };

/** The settings that erasures need, and those that change how visitors are identified. */
const settingsOf: Readonly<Record<string, readonly JsonObject[]>> = {
  Amplitude: [{ secretKey: 'secret' }],
  HTTPDestination: [{ erasureUrl: 'https://example.com/erasures' }],
  Hubspot: [{}, { contactIdProperty: 'customer_id' }],
  Iterable: [{ identifyBy: 'email' }, { identifyBy: 'userId' }],
  Mixpanel: ['simplified', 'original'].map((identityMerge) => ({ gdprToken: 'oauth', identityMerge })),
  PostHog: [{ projectId: '12345', personalApiKey: 'phx_example' }],
};

/** Customer.io itself deletes events without a person, after 30 days. */
const deletedLater: ReadonlySet<string> = new Set(['Customerio visitor id', 'Customerio phone number']);

const erasing = destinationKinds.flatMap(({ descriptor: { id }, prepare, prepareErasure, exampleSettings }) =>
  (settingsOf[id] ?? [{}]).flatMap((more) => {
    const settings = { ...exampleSettings, ...more };
    const first = prepareErasure?.(settings).begin(sampleErasure);
    return first?.kind === 'send' ? [{ id, more, first, prepared: prepare(settings) }] : [];
  }),
);

test.each(erasing)(
  'erasures: $id is asked to delete everyone whom its deliveries identify ($more)',
  ({ id, first, prepared: { accepts, buildRequest } }) => {
    const erased = namesIn(first);
    for (const [name, own] of Object.entries(knownBy)) {
      for (const event of ['Order Completed', 'Quiz Finished', '$identify']) {
        const properties = event === '$identify' ? {} : { value: 1, currency: 'EUR', order_id: 'A-1' };
        const outbound = sampleShopper({ event, visitor: { ...unknown, ...own }, properties, time: nowMs });
        const isSent = accepts?.(outbound) !== false && !deletedLater.has(`${id} ${name}`);
        const sent = isSent ? requestOf(() => buildRequest([outbound], nowMs)) : undefined;
        if (sent === undefined) continue;
        const names = textsIn(sent).filter((text) => isIdentifier.test(text));
        const isErased = names.some((text) => erased.has(text));
        expect(isErased, `${event} of a visitor known by ${name}: ${names.join(', ')}`).toBe(true);
      }
    }
  },
);

test('erasures: the table has every kind that sends erasures to its platform', () => {
  const silent = new Set(['Plausible', 'SluiceSyntheticData']);
  const forwarding = destinationKinds.filter(
    ({ descriptor, prepareErasure }) => prepareErasure !== undefined && !silent.has(descriptor.id),
  );
  expect(new Set(erasing.map(({ id }) => id))).toEqual(new Set(forwarding.map(({ descriptor }) => descriptor.id)));
});

/** Undefined if the event does not have what the platform needs. */
function requestOf(build: () => OutboundRequest): OutboundRequest | undefined {
  try {
    return build();
  } catch (error) {
    if (error instanceof UnfitEventError) return undefined;
    throw error;
  }
}

/** The texts in the body of a request, and the parts of its URL. */
function textsIn({ url, body = '' }: Pick<OutboundRequest, 'url' | 'body'>): readonly string[] {
  const texts = [...decodeURIComponent(body).matchAll(/"([^"]*)"/g)].map(([, text = '']) => text);
  return [...texts, ...decodeURIComponent(url).split(/[/?&=:",()]/)];
}

/** The texts in all requests of an erasure, each of which the platform answers with an empty object. */
function namesIn(first: ErasureStep): ReadonlySet<string> {
  const named = new Set<string>();
  let step = first;
  while (step.kind === 'send') {
    for (const text of textsIn(step.request)) named.add(text);
    step = step.read({ status: 200, headers: {}, body: '{}' }, 0);
  }
  return named;
}
