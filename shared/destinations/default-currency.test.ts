import { expect, test } from 'vitest';
import { destinationKinds } from './registry.ts';
import { UnfitEventError } from './sdk/destination.ts';
import { sampleShopper } from './testing/sample-shopper.ts';

const nowMs = 1_700_000_060_000;

const offering = destinationKinds.filter(({ descriptor }) =>
  descriptor.settings.some(({ key }) => key === 'defaultCurrency'),
);

/** Kinds that send no currency: Vibe takes US dollars only, and postbacks have the parameters of their template. */
const withoutCurrency: ReadonlySet<string> = new Set(['Vibe', 'BasisPostback', 'BeeswaxPostback']);

test.each(offering.map((kind) => [kind.descriptor.id, kind] as const))(
  'defaultCurrency: %s is sent it for an amount without a currency, and not for an unreadable currency',
  (id, kind) => {
    const { buildRequest } = kind.prepare({ ...kind.exampleSettings, defaultCurrency: 'CHF' });
    const sentFor = (currency: string | undefined): string => {
      const products = [{ product_id: 'tea-1', name: 'Tea', price: 42.5, quantity: 1, currency }];
      const properties = { order_id: 'A-1', value: 42.5, products, currency, ...kind.exampleProperties };
      const context = {
        ip: '203.0.113.7',
        user_agent: 'Example/1.0',
        current_url: 'https://shop.example.com/',
        gclid: 'g',
      };
      try {
        const { url, body = '' } = buildRequest([sampleShopper({ properties, context })], nowMs);
        return `${url} ${body}`;
      } catch (error) {
        if (error instanceof UnfitEventError) return error.message;
        throw error;
      }
    };
    expect(sentFor(undefined).includes('CHF')).toBe(!withoutCurrency.has(id));
    expect(sentFor('US$')).not.toContain('CHF');
  },
);
