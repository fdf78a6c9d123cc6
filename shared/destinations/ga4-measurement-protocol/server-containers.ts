import { defineDestination } from '../sdk/destination.ts';
import type { DestinationKind } from '../sdk/destination.ts';
import { address, matching, readBaseUrl, requiredSecret, requiredText } from '../sdk/settings.ts';
import { defaultCurrency } from '../sdk/reading-settings.ts';
import { prepareMeasurementProtocol } from './destination.ts';

const settings = {
  baseUrl: address(
    requiredText(
      {
        label: 'Server container URL',
        placeholder: 'https://metrics.example.com',
        sublabel: 'The URL of a Google Tag Manager server container with a client for the Measurement Protocol (GA4).',
        example: 'https://metrics.example.com',
      },
      readBaseUrl,
    ),
  ),
  measurementId: requiredText(
    {
      label: 'Measurement ID',
      placeholder: 'G-XXXXXXXXXX',
      sublabel:
        "The ID that the container receives with events; use the Google Analytics data stream's ID if there is one.",
      example: 'G-EXAMPLE123',
    },
    matching(/^G-[A-Z0-9]{4,20}$/, 'must be a measurement ID such as G-XXXXXXXXXX'),
  ),
  apiSecret: requiredSecret({
    label: 'API secret',
    sublabel: "From the data stream. The container's forwarded events are validated with it.",
    example: 'example-api-secret',
  }),
  defaultCurrency: defaultCurrency('USD'),
};

/**
 * A customer's server container of Google Tag Manager, which receives Measurement Protocol events at its own address
 * (`POST /mp/collect`); the container's tags forward them.
 * https://developers.google.com/tag-platform/tag-manager/server-side/send-data
 */
function defineServerContainer(
  id: string,
  label: string,
  tags: string,
  namesElsewhere: readonly string[] = [],
): DestinationKind {
  return defineDestination({
    id,
    label,
    settings,
    facts: {
      sends: `Every event but $identify, for ${tags}`,
      limits: { events: 25, bytes: 130_000 },
      deduplicatesBy: undefined,
      errors: 'status of the whole request; the results of its tags are not reported',
      consentTypes: ['ad_user_data', 'ad_personalization'],
      sources: [
        'https://developers.google.com/tag-platform/tag-manager/server-side/send-data',
        'https://developers.google.com/analytics/devguides/collection/protocol/ga4/reference',
      ],
      checked: '2026-11-22',
      version: 'unversioned',
      namesElsewhere,
    },
    loadPlatform: async () => (await import('./platform.ts')).measurementProtocolPlatform,
    prepare: prepareMeasurementProtocol,
  });
}

export const ga4ServerProxy = defineServerContainer(
  'GA4ServerProxy',
  'Google Analytics 4 (server container)',
  'the Google Analytics tag of your server container',
  ['GA4', 'Google Analytics 4 (GA4)'],
);

export const googleAdsServerContainer = defineServerContainer(
  'GoogleAdsServerContainer',
  'Google Ads (server container)',
  'the Google Ads conversion tags of your server container',
);

export const floodlightSgtm = defineServerContainer(
  'FloodlightSGTM',
  'Floodlight (server container)',
  'the Floodlight tags of your server container',
);
