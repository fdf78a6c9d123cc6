import { defineClickPostback } from '../sdk/click-postback.ts';
import { baseUrl } from '../sdk/settings.ts';

/**
 * Outbrain, server-to-server conversions: `GET /unifiedPixel` with the click id (`dicbo` of the landing page),
 * without authentication, as https://github.com/stape-io/outbrain-tag sends it. The event name must match a conversion
 * in Outbrain. There is no field for the event time, so a conversion counts at the time of arrival.
 */
export const outbrain = defineClickPostback({
  id: 'Outbrain',
  label: 'Outbrain server-to-server conversions',
  clickNames: ['dicbo', 'outbrain_cid', 'ob_click_id'],
  settings: { baseUrl: baseUrl('https://tr.outbrain.com') },
  facts: {
    sends: 'Every event that has a click id',
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
