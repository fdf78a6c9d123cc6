import { defineDestination } from '../sdk/destination.ts';
import { choice } from '../sdk/settings.ts';
import { accountSettings, adjustmentSettings, ingestFacts, ingestSettings, prepareIngest } from './ingest.ts';
import type { DataManagerAccount } from './ingest.ts';

const loadPlatform = async () => (await import('./platform.ts')).dataManagerPlatform;

/**
 * Google Data Manager API, `POST /v1/events:ingest`: a request has up to 2,000 conversions of one conversion action or
 * Floodlight activity. https://developers.google.com/data-manager/api/reference/rest/v1/events/ingest. The response
 * says only that the request was accepted; the result of each event appears in Google's diagnostics. `transactionId` is
 * the order id, or else the event id, and also deduplicates against the tag on the page. The property `consent` may
 * contain `ad_user_data` and `ad_personalization`, each `GRANTED` or `DENIED`.
 */
export const googleDataManagerEventIngest = defineDestination({
  id: 'GoogleDataManagerEventIngest',
  label: 'Google Data Manager',
  settings: {
    accountType: choice<DataManagerAccount>({
      label: 'Account type',
      options: [
        { label: 'Google Ads', value: 'GOOGLE_ADS' },
        { label: 'Floodlight configuration', value: 'FLOODLIGHT_CONFIG' },
      ],
      fallback: 'GOOGLE_ADS',
      example: 'GOOGLE_ADS',
    }),
    ...accountSettings('Account ID', 'ID of the conversion action or Floodlight activity'),
    ...ingestSettings,
    ...adjustmentSettings,
  },
  facts: {
    sends: 'The events of one conversion action or Floodlight activity',
    ...ingestFacts,
    namesElsewhere: [
      'Google Ads Conversions',
      'Actions Google Enhanced Conversions',
      'Google Enhanced Conversions',
      'GOOGLE_ADWORDS_ENHANCED_CONVERSIONS',
      'Google Ads Enhanced Conversions',
      'GOOGLE_ADWORDS_OFFLINE_CONVERSIONS',
      'Google Ads Offline Conversions',
    ],
  },
  loadPlatform,
  prepare: (given) => prepareIngest(given, given.accountType),
});

/**
 * Google Ads conversions, through the Data Manager API, because the older upload of click conversions with the Google
 * Ads API has accepted no new users since June 2026
 * (https://developers.google.com/data-manager/api/devguides/events/google-ads/offline/upgrade).
 */
export const google = defineDestination({
  id: 'Google',
  label: 'Google Ads',
  settings: {
    ...accountSettings('Customer ID', 'ID of the conversion action'),
    ...ingestSettings,
    ...adjustmentSettings,
  },
  facts: {
    sends: 'The events of one conversion action',
    ...ingestFacts,
    namesElsewhere: [
      'Google Ads Conversions',
      'Actions Google Enhanced Conversions',
      'Google Enhanced Conversions',
      'GOOGLE_ADWORDS_ENHANCED_CONVERSIONS',
      'Google Ads Enhanced Conversions',
      'GOOGLE_ADWORDS_OFFLINE_CONVERSIONS',
      'Google Ads Offline Conversions',
      'Google Ads',
    ],
  },
  loadPlatform,
  prepare: (given) => prepareIngest(given, 'GOOGLE_ADS'),
});

/**
 * Search Ads 360, Campaign Manager 360 and Display & Video 360: conversions of a Floodlight activity through the Data
 * Manager API, https://developers.google.com/data-manager/api/devguides/events/cm360/offline.
 */
export const googleAds360 = defineDestination({
  id: 'GoogleAds360',
  label: 'Google Ads 360 (Floodlight)',
  settings: { ...accountSettings('Floodlight configuration ID', 'Floodlight activity ID'), ...ingestSettings },
  facts: {
    sends: 'The events of one Floodlight activity',
    ...ingestFacts,
    namesElsewhere: ['CAMPAIGN_MANAGER', 'Campaign Manager 360', 'DCM_FLOODLIGHT'],
  },
  loadPlatform,
  prepare: (given) => prepareIngest(given, 'FLOODLIGHT_CONFIG'),
});
