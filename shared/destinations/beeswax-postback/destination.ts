import { defineClickPostback } from '../sdk/click-postback.ts';
import { conversionEvents } from '../sdk/conversion-events.ts';
import { postbackUrl } from '../sdk/postback-url.ts';

const settings = {
  url: postbackUrl({
    label: 'Postback URL',
    sublabel: "The event's generic postback URL in Beeswax, with {{click}} in place of AUCTION_ID.",
    example: 'https://example.bidr.io/postback/123?auction_id={{click}}',
  }),
  conversionEvents: conversionEvents(),
};

/**
 * Beeswax (FreeWheel), conversions without a pixel: a GET to an event's generic postback URL, with the id of the
 * auction to attribute. https://hub.freewheel.tv/display/BW/Postback+Handling+for+Conversions. The creative's click
 * URL carries the id in the parameter `auction_id` or `bw_auction_id`, filled by the macro {{AUCTION_ID}}.
 */
export const beeswaxPostback = defineClickPostback({
  id: 'BeeswaxPostback',
  label: 'Beeswax postback',
  clickNames: ['auction_id', 'bw_auction_id', 'AUCTION_ID'],
  settings,
  facts: {
    sends: 'Conversions that have an auction id',
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
