import { defineClickPostback } from '../sdk/click-postback.ts';
import { conversionEvents } from '../sdk/conversion-events.ts';
import { postbackUrl } from '../sdk/postback-url.ts';

const settings = {
  url: postbackUrl({
    label: 'Postback URL',
    sublabel: 'As shown in Basis DSP for the conversion, with {{click}} in place of the postback ID.',
    example: 'https://postback.example.com/conversion/123?postback_id={{click}}',
  }),
  conversionEvents: conversionEvents(),
};

/**
 * Basis DSP, postback conversion tracking: a GET to a conversion's postback URL, with the postback id of the click.
 * https://basis-production-helpdocs.s3.amazonaws.com/master_buyer/DSP/Pixels/Conversion_Pixels/Postback_Conversion_Tracking.htm.
 * The landing page receives the id in the parameter `postback_id` or `postbackid`.
 */
export const basisPostback = defineClickPostback({
  id: 'BasisPostback',
  label: 'Basis DSP postback',
  clickNames: ['postback_id', 'postbackid', 'basis_postback_id'],
  settings,
  facts: {
    sends: 'Conversions that have a click id',
    limits: { events: 1 },
    deduplicatesBy: undefined,
    errors: 'status',
    sources: [
      'https://basis-production-helpdocs.s3.amazonaws.com/master_buyer/DSP/Pixels/Conversion_Pixels/Postback_Conversion_Tracking.htm',
    ],
    checked: '2026-11-22',
    version: 'unversioned',
  },
  loadPlatform: async () => (await import('./platform.ts')).basisPostbackPlatform,
  accepts: (given, event) => given.conversionEvents(event),
  postback: (given, conversion) => ({ url: given.url(conversion) }),
});
