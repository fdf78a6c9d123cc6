import { amplitude } from './amplitude/destination.ts';
import { awsKinesis } from './aws-kinesis/destination.ts';
import { awsSns } from './aws-sns/destination.ts';
import { braze } from './braze/destination.ts';
import { customerio } from './customerio/destination.ts';
import { facebook } from './facebook/destination.ts';
import { ga4MeasurementProtocol } from './ga4-measurement-protocol/destination.ts';
import { googlePubSub } from './google-pub-sub/destination.ts';
import { httpCustomRequest } from './http-custom-request/destination.ts';
import { httpDestination } from './http-destination/destination.ts';
import { hubspot } from './hubspot/destination.ts';
import { iterable } from './iterable/destination.ts';
import { klaviyo } from './klaviyo/destination.ts';
import { linkedinAdsCapi } from './linkedin-ads-capi/destination.ts';
import { mixpanel } from './mixpanel/destination.ts';
import { pinterest } from './pinterest/destination.ts';
import { plausible } from './plausible/destination.ts';
import { posthog } from './posthog/destination.ts';
import { reddit } from './reddit/destination.ts';
import type { DestinationKind } from './sdk/destination.ts';
import { sluiceSyntheticData } from './sluice-synthetic-data/destination.ts';
import { snapchatAdsCapi } from './snapchat-ads-capi/destination.ts';
import { tiktok } from './tiktok/destination.ts';
import { woopra } from './woopra/destination.ts';
import { withCommonSettings } from './common-settings.ts';
import type { OfferedKind } from './common-settings.ts';

/** Every kind this build delivers to: one line a kind. */
const defined: readonly DestinationKind[] = [
  amplitude,
  awsKinesis,
  awsSns,
  braze,
  customerio,
  facebook,
  ga4MeasurementProtocol,
  googlePubSub,
  httpCustomRequest,
  httpDestination,
  hubspot,
  iterable,
  klaviyo,
  linkedinAdsCapi,
  mixpanel,
  pinterest,
  plausible,
  posthog,
  reddit,
  sluiceSyntheticData,
  snapchatAdsCapi,
  tiktok,
  woopra,
];

export const destinationKinds: readonly OfferedKind[] = defined.map(withCommonSettings);

const byId: ReadonlyMap<string, OfferedKind> = new Map(destinationKinds.map((kind) => [kind.descriptor.id, kind]));

/** The kind of a destination's `type`; undefined when this build does not offer it. */
export function findDestinationKind(id: string): OfferedKind | undefined {
  return byId.get(id);
}
