import { readOnlyDestinationTypes } from './destination-types.ts';

/** A kind that is known by name but cannot be created. */
export type UnavailableDestinationType = {
  readonly id: string;
  /** The reason, as shown to users. */
  readonly reason: string;
};

const browserTag = 'It is a tag that runs in the browser: a server cannot send events to it.';
const readOnly =
  'Existing destinations of this type can be read, but none can be created: it is a store or an audience, not a receiver of events.';

const otherIds: Readonly<Record<string, string>> = {
  AWSEventBridge: 'Existing destinations of this type can be read. AmazonEventBridge sends events to a bus.',
};

/** Why a kind is not offered. Searched on the platform's own pages and in open-source implementations, 2026-11-22. */
const reasons: Readonly<Record<string, string>> = {
  ArtsAI: 'No public format of its events was found.',
  Audiohook: 'No public format of its events was found.',
  BingAdsWeb: `${browserTag} BingAds takes conversions from servers.`,
  FullContact: 'Its API looks people up, and accepts no events.',
  G4Analytics: `${browserTag} GA4MeasurementProtocol takes events from servers.`,
  MNTN: 'Only its image pixel is public, which knows a visitor by the address of the connection: a server’s call identifies no visitor.',
  Tatari: 'No public format of its events was found.',
  TatariCAPI: 'No public format of its events was found.',
  UniversalAds: 'No public format of its events was found.',
  Viant: `${browserTag} Viant documents its conversions API only (ViantCAPI).`,
  ZoomInfo: 'It provides data, and no interface that takes events was found.',
};

/** Every known kind that this build does not offer, in order, with the reason. */
export const unavailableDestinationTypes: readonly UnavailableDestinationType[] = [
  ...Object.entries(reasons).map(([id, reason]) => ({ id, reason })),
  ...readOnlyDestinationTypes.map((id) => ({ id, reason: otherIds[id] ?? readOnly })),
].toSorted((one, other) => (one.id < other.id ? -1 : 1));

/** Why a kind cannot be created; undefined if it can be, or is not known by name. */
export function whyUnavailable(type: string): string | undefined {
  return unavailableDestinationTypes.find(({ id }) => id === type)?.reason;
}
