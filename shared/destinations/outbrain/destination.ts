import { defineClickPostback } from '../sdk/click-postback.ts';
import { baseUrl } from '../sdk/settings.ts';

/**
 * Outbrain, server-to-server conversions: `GET /unifiedPixel` with the id of the click (`dicbo` of the landing page),
 * without authentication, as https://github.com/stape-io/outbrain-tag sends it. A name must be that of a conversion in Outbrain. It takes no time:
 * a conversion counts when it arrives.
 */
export const outbrain = defineClickPostback({
  id: 'Outbrain',
  label: 'Outbrain server-to-server conversions',
  clickNames: ['dicbo', 'outbrain_cid', 'ob_click_id'],
  settings: { baseUrl: baseUrl('https://tr.outbrain.com') },
  facts: {
    sends: 'Every event with the id of a click',
    limits: { events: 1 },
    deduplicatesBy: 'orderId',
    errors: 'status',
    sources: ['https://github.com/stape-io/outbrain-tag'],
    checked: '2026-11-22',
    version: 'unversioned',
  },
  loadPlatform: async () => (await import('./platform.ts')).outbrainPlatform,
  postback: (given, { click, name, commerce: { orderId, value, currency } }) => ({
    url: `${given.baseUrl}/unifiedPixel`,
    query: {
      ob_click_id: click,
      name,
      orderId,
      orderValue: value,
      currency: value === undefined ? undefined : currency,
    },
  }),
});
