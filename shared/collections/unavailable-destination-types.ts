/** A kind of destination whose name is known, but which cannot be created. */
export type UnavailableDestinationType = {
  readonly id: string;
  /** The name shown to users. */
  readonly label: string;
  /** The reason, as shown to users. */
  readonly reason: string;
};

const browserTag = 'It is a tag that runs in the browser: a server cannot send events to it.';
const store = 'It stores files or tables, and receives no events. Existing destinations of this kind can be read.';
const audience = 'It is a list of people, and receives no events. Existing destinations of this kind can be read.';
const unknownFormat = 'No public format of its events was found.';

/** Label and reason by kind. The platforms' own pages and open-source implementations were searched on 2026-11-22. */
const kinds: Readonly<Record<string, readonly [label: string, reason: string]>> = {
  ArtsAI: ['ArtsAI', unknownFormat],
  Audiohook: ['Audiohook', unknownFormat],
  AWSEventBridge: [
    'AWS EventBridge, earlier kind',
    'Existing destinations of this kind can be read. Amazon EventBridge sends events to a bus.',
  ],
  AWSS3: ['Amazon S3', store],
  AzureBlob: ['Azure Blob Storage', store],
  BingAdsWeb: [
    'Microsoft Advertising tag',
    `${browserTag} Microsoft Advertising Conversions API takes events from servers.`,
  ],
  DatabricksWarehouse: ['Databricks warehouse', store],
  DomoWarehouse: ['Domo warehouse', store],
  FacebookAudience: ['Facebook Custom Audiences', audience],
  FullContact: ['FullContact', 'Its API looks people up, and accepts no events.'],
  G4Analytics: [
    'Google Analytics 4 tag',
    `${browserTag} Google Analytics 4 (Measurement Protocol) takes events from servers.`,
  ],
  GoogleAudience: ['Google audiences', audience],
  GoogleBigQuery: ['Google BigQuery', store],
  GoogleBigQueryWarehouse: ['Google BigQuery warehouse', store],
  GoogleStorage: ['Google Cloud Storage', store],
  LiveRampWarehouse: ['LiveRamp warehouse', store],
  MNTN: [
    'MNTN',
    'Only its image pixel is public, which knows a visitor by the address of the connection: a server’s call identifies no visitor.',
  ],
  MNTNAudience: ['MNTN audiences', audience],
  Tatari: ['Tatari', unknownFormat],
  TatariCAPI: ['Tatari conversions API', unknownFormat],
  UniversalAds: ['Universal Ads', unknownFormat],
  Viant: ['Viant tag', `${browserTag} Viant documents its conversions API only (Viant Conversions API).`],
  VibeAudience: ['Vibe audiences', audience],
  ZoomInfo: ['ZoomInfo', 'It provides data, and no interface that takes events was found.'],
};

/** Every known kind that this build does not offer, by id, with the reason. */
export const unavailableDestinationTypes: readonly UnavailableDestinationType[] = Object.entries(kinds)
  .map(([id, [label, reason]]) => ({ id, label, reason }))
  .toSorted((one, other) => (one.id < other.id ? -1 : 1));

/** Why a kind cannot be created; undefined if it can be created or its name is not known. */
export function whyUnavailable(type: string): string | undefined {
  return unavailableDestinationTypes.find(({ id }) => id === type)?.reason;
}
