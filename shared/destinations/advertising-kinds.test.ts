import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UnfitEventError } from './define.ts';
import { facebook } from './facebook.ts';
import { linkedinAdsCapi } from './linkedin-ads-capi.ts';
import { pinterest } from './pinterest.ts';
import { reddit } from './reddit.ts';
import { sampleEvent } from './sample-event.ts';
import { sampleShopper } from './sample-shopper.ts';
import { snapchatAdsCapi } from './snapchat-ads-capi.ts';
import { tiktok } from './tiktok.ts';

const kinds = [facebook, linkedinAdsCapi, pinterest, reddit, snapchatAdsCapi, tiktok];
const nowMs = 1_700_000_060_000;

const names = fc.constantFrom(
  ...`email phone_number first_name last_name gender date_of_birth city state zip country external_id visitor
      products items value price quantity currency product_id fbclid current_url ip user_agent lead_id
      action_source screen_width __proto__ toString`.split(/\s+/),
);
const anything = fc.dictionary(names, fc.jsonValue({ maxDepth: 3 }));

describe.each(kinds.map((kind) => [kind.descriptor.id, kind] as const))('%s', (_, kind) => {
  const prepared = kind.prepare(kind.exampleSettings);

  it('any event: makes a request of JSON, or is unfit', () => {
    fc.assert(
      fc.property(anything, anything, anything, fc.string(), (event_properties, context, known, event) => {
        const resolved = sampleEvent({ event, event_properties, context });
        const visitor = { ...known, id: 'v', custom_properties: {} } as unknown as typeof resolved.visitor;
        try {
          const { body = '' } = prepared.buildRequest([{ resolved: { ...resolved, visitor } }], nowMs);
          expect(JSON.parse(body)).toBeTypeOf('object');
        } catch (error) {
          expect(error).toBeInstanceOf(UnfitEventError);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('personal data: no address, number or birthday in the clear', () => {
    const visitor = { date_of_birth: '1990-01-31', gender: 'female', zip: 'SW1A 1AA' };
    const { body = '', url } = prepared.buildRequest([sampleShopper({ visitor })], nowMs);
    for (const secret of [
      'ada@example.com',
      '8444124653',
      '844 412',
      'customer-7',
      '1990',
      '19900131',
      'SW1A',
      'sw1a',
    ]) {
      expect(body + url).not.toContain(secret);
    }
  });
});
