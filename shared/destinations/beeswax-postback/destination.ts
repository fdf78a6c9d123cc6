import { defineClickPostback } from '../sdk/click-postback.ts';
import { conversionEvents } from '../sdk/conversion-events.ts';
import { postbackUrl } from '../sdk/postback-url.ts';

const settings = {
  url: postbackUrl({
    label: 'Postback URL',
    sublabel: 'The generic postback URL of the event in Beeswax, with {{click}} where AUCTION_ID belongs.',
    example: 'https://example.bidr.io/postback/123?auction_id={{click}}',
  }),
  conversionEvents: conversionEvents(),
};

/**
 * Beeswax (FreeWheel), conversions without a pixel: a GET to the generic postback URL of an event, with the id of the
 * auction that deserves the credit. https://hub.freewheel.tv/display/BW/Postback+Handling+for+Conversions. The click URL
 * of the creative hands the id over with the macro {{AUCTION_ID}}, in a parameter `auction_id` or `bw_auction_id`.
 */
export const beeswaxPostback = defineClickPostback({
  id: 'BeeswaxPostback',
  label: 'Beeswax postback',
  clickNames: ['auction_id', 'bw_auction_id', 'AUCTION_ID'],
  settings,
  facts: {
    sends: 'Conversions, with the id of their auction',
    limits: { events: 1 },
    deduplicatesBy: undefined,
    errors: 'status',
    sources: ['https://hub.freewheel.tv/display/BW/Postback+Handling+for+Conversions'],
    checked: '2026-11-22',
    version: 'unversioned',
  },
  loadPlatform: async () => (await import('./platform.ts')).beeswaxPostbackPlatform,
  accepts: (given, event) => given.conversionEvents(event),
  postback: (given, conversion) => ({ url: given.url(conversion) }),
});
