import type { DestinationKind } from './define.ts';
import { withCommonSettings } from './common-settings.ts';
import type { OfferedKind } from './common-settings.ts';
import { amplitude } from './amplitude.ts';
import { awsKinesis } from './aws-kinesis.ts';
import { awsSns } from './aws-sns.ts';
import { braze } from './braze.ts';
import { customerio } from './customerio.ts';
import { facebook } from './facebook.ts';
import { ga4MeasurementProtocol } from './ga4-measurement-protocol.ts';
import { googlePubSub } from './google-pub-sub.ts';
import { httpCustomRequest } from './http-custom-request.ts';
import { httpDestination } from './http-destination.ts';
import { hubspot } from './hubspot.ts';
import { iterable } from './iterable.ts';
import { klaviyo } from './klaviyo.ts';
import { linkedinAdsCapi } from './linkedin-ads-capi.ts';
import { mixpanel } from './mixpanel.ts';
import { pinterest } from './pinterest.ts';
import { plausible } from './plausible.ts';
import { posthog } from './posthog.ts';
import { reddit } from './reddit.ts';
import { sluiceSyntheticData } from './sluice-synthetic-data.ts';
import { snapchatAdsCapi } from './snapchat-ads-capi.ts';
import { tiktok } from './tiktok.ts';
import { woopra } from './woopra.ts';

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
