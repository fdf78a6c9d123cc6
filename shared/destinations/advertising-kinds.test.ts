import { describe, expect, it } from 'vitest';
import { facebook } from './facebook/destination.ts';
import { linkedinAdsCapi } from './linkedin-ads-capi/destination.ts';
import { pinterest } from './pinterest/destination.ts';
import { reddit } from './reddit/destination.ts';
import { snapchatAdsCapi } from './snapchat-ads-capi/destination.ts';
import { sampleShopper } from './testing/sample-shopper.ts';
import { tiktok } from './tiktok/destination.ts';

const kinds = [facebook, linkedinAdsCapi, pinterest, reddit, snapchatAdsCapi, tiktok];
const nowMs = 1_700_000_060_000;

describe.each(kinds.map((kind) => [kind.descriptor.id, kind] as const))('%s', (_, kind) => {
  it('personal data: no address, number or birthday in the clear', () => {
    const visitor = { date_of_birth: '1990-01-31', gender: 'female', zip: 'SW1A 1AA' };
    const { body = '', url } = kind.prepare(kind.exampleSettings).buildRequest([sampleShopper({ visitor })], nowMs);
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
