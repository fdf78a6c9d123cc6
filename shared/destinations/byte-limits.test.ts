import { expect, test } from 'vitest';
import { findDestinationKind } from './registry.ts';
import { UnfitEventError } from './sdk/destination.ts';
import type { OutboundEvent } from './sdk/destination.ts';
import { sampleShopper } from './testing/sample-shopper.ts';

const nowMs = 1_700_000_060_000;
const textBytes = 20_000;

/** Maximum bytes per request, for the platforms whose full batch of events could be larger. */
const limits = {
  Amplitude: 1_000_000,
  Customerio: 500_000,
  GA4MeasurementProtocol: 130_000,
  Iterable: 4_000_000,
  Mixpanel: 10_000_000,
  PostHog: 20_000_000,
  SnapchatAdsCapi: 2_000_000,
};

test.each(Object.entries(limits))(
  '%s: a request holds as many events as weigh %i bytes, and no more',
  (id, bytesMax) => {
    const kind = findDestinationKind(id);
    if (kind === undefined) throw new Error(`there is no kind ${id}`);
    const prepared = kind.prepare(kind.exampleSettings);
    const bytesOf = (count: number): number => {
      const events = Array.from({ length: count }, (_, i) => heavy(`e${i}`));
      return Buffer.byteLength(prepared.buildRequest(events, nowMs).body ?? '');
    };
    const each = bytesOf(2) - bytesOf(1);
    const fitting = Math.floor((bytesMax - bytesOf(1)) / each);
    expect(bytesOf(fitting)).toBeLessThanOrEqual(bytesMax);
    expect(() => bytesOf(fitting + 3)).toThrow(UnfitEventError);
    expect(() => bytesOf(fitting + 3)).toThrow('too large');
  },
);

/** An event that is large in every part that a platform may send: properties, products and search text. */
function heavy(id: string): OutboundEvent {
  const text = 'x'.repeat(textBytes);
  const products = Array.from({ length: 20 }, (_, i) => ({ product_id: `${i}${text.slice(0, 1_000)}`, price: 1 }));
  return sampleShopper({
    id,
    event: 'Product Viewed',
    properties: { text, query: text, value: 1, currency: 'EUR', products },
  });
}
