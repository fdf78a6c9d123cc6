import type { PlannedKind } from '../routing/dispatch-plan.ts';
import { activeCampaignApi } from './active-campaign-api/destination.ts';
import { admitad } from './admitad/destination.ts';
import { adobeAnalytics } from './adobe-analytics/destination.ts';
import { amazonDsp } from './amazon-dsp/destination.ts';
import { amazonEventBridge } from './amazon-event-bridge/destination.ts';
import { amplitude } from './amplitude/destination.ts';
import { appLovin } from './applovin/destination.ts';
import { attentive } from './attentive/destination.ts';
import { awsKinesis } from './aws-kinesis/destination.ts';
import { awsLambda } from './aws-lambda/destination.ts';
import { awsSns } from './aws-sns/destination.ts';
import { awsSqs } from './aws-sqs/destination.ts';
import { azureEventHubs } from './azure-event-hubs/destination.ts';
import { basisPostback } from './basis-postback/destination.ts';
import { beeswaxPostback } from './beeswax-postback/destination.ts';
import { bingAds } from './bing-ads/destination.ts';
import { braze } from './braze/destination.ts';
import { convertAbTestingEvent } from './convert-ab-testing-event/destination.ts';
import { customerio } from './customerio/destination.ts';
import { everflow } from './everflow/destination.ts';
import { facebook } from './facebook/destination.ts';
import { ga4MeasurementProtocol } from './ga4-measurement-protocol/destination.ts';
import {
  floodlightSgtm,
  ga4ServerProxy,
  googleAdsServerContainer,
} from './ga4-measurement-protocol/server-containers.ts';
import { google, googleAds360, googleDataManagerEventIngest } from './google-data-manager-event-ingest/destination.ts';
import { googlePubSub } from './google-pub-sub/destination.ts';
import { httpCustomRequest } from './http-custom-request/destination.ts';
import { httpDestination } from './http-destination/destination.ts';
import { hubspot } from './hubspot/destination.ts';
import { iHeartMediaMagellan } from './iheartmedia-magellan/destination.ts';
import { impact } from './impact/destination.ts';
import { iterable } from './iterable/destination.ts';
import { kafka } from './kafka/destination.ts';
import { klaviyo } from './klaviyo/destination.ts';
import { linkedinAdsCapi } from './linkedin-ads-capi/destination.ts';
import { liveIntent } from './liveintent/destination.ts';
import { mailchimp } from './mailchimp/destination.ts';
import { mixpanel } from './mixpanel/destination.ts';
import { nextdoorAds } from './nextdoor-ads/destination.ts';
import { openaiAds } from './openai-ads/destination.ts';
import { outbrain } from './outbrain/destination.ts';
import { partnerize } from './partnerize/destination.ts';
import { pinterest } from './pinterest/destination.ts';
import { plausible } from './plausible/destination.ts';
import { podscribe } from './podscribe/destination.ts';
import { posthog } from './posthog/destination.ts';
import { quantcastCapi } from './quantcast-capi/destination.ts';
import { quoraAds } from './quora-ads/destination.ts';
import { reddit } from './reddit/destination.ts';
import { redisStreams } from './redis-streams/destination.ts';
import { rokt } from './rokt/destination.ts';
import { rokuCapi } from './roku-capi/destination.ts';
import { slack } from './slack/destination.ts';
import { sluiceSyntheticData } from './sluice-synthetic-data/destination.ts';
import { smtp } from './smtp/destination.ts';
import { snapchatAdsCapi } from './snapchat-ads-capi/destination.ts';
import { spotify } from './spotify/destination.ts';
import { stackAdaptApi } from './stackadapt-api/destination.ts';
import { taboola } from './taboola/destination.ts';
import { theTradeDesk } from './the-trade-desk/destination.ts';
import { tiktok } from './tiktok/destination.ts';
import { viantCapi } from './viant-capi/destination.ts';
import { vibe } from './vibe/destination.ts';
import { vwo } from './vwo/destination.ts';
import { woopra } from './woopra/destination.ts';
import { xAds } from './x-ads/destination.ts';
import { yelpCapi } from './yelp-capi/destination.ts';
import { zendesk } from './zendesk/destination.ts';
import { zohoCrm } from './zoho-crm/destination.ts';
import type { DestinationKind } from './sdk/destination.ts';
import { withCommonSettings } from './common-settings.ts';
import type { OfferedKind } from './common-settings.ts';

/** Every kind in this build. */
const defined: readonly DestinationKind[] = [
  activeCampaignApi,
  admitad,
  adobeAnalytics,
  amazonDsp,
  amazonEventBridge,
  amplitude,
  appLovin,
  attentive,
  awsKinesis,
  awsLambda,
  awsSns,
  awsSqs,
  azureEventHubs,
  basisPostback,
  beeswaxPostback,
  bingAds,
  braze,
  convertAbTestingEvent,
  customerio,
  everflow,
  facebook,
  floodlightSgtm,
  ga4MeasurementProtocol,
  ga4ServerProxy,
  google,
  googleAds360,
  googleAdsServerContainer,
  googleDataManagerEventIngest,
  googlePubSub,
  httpCustomRequest,
  httpDestination,
  hubspot,
  iHeartMediaMagellan,
  impact,
  iterable,
  kafka,
  klaviyo,
  linkedinAdsCapi,
  liveIntent,
  mailchimp,
  mixpanel,
  nextdoorAds,
  openaiAds,
  outbrain,
  partnerize,
  pinterest,
  plausible,
  podscribe,
  posthog,
  quantcastCapi,
  quoraAds,
  reddit,
  redisStreams,
  rokt,
  rokuCapi,
  slack,
  sluiceSyntheticData,
  smtp,
  snapchatAdsCapi,
  spotify,
  stackAdaptApi,
  taboola,
  theTradeDesk,
  tiktok,
  viantCapi,
  vibe,
  vwo,
  woopra,
  xAds,
  yelpCapi,
  zendesk,
  zohoCrm,
];

export const destinationKinds: readonly OfferedKind[] = defined.map(withCommonSettings);

const byId: ReadonlyMap<string, OfferedKind> = new Map(destinationKinds.map((kind) => [kind.descriptor.id, kind]));

/** The kind of a destination's `type`; undefined if this build does not offer it. */
export function findDestinationKind(id: string): OfferedKind | undefined {
  return byId.get(id);
}

/** What the account's rules need to know about a destination's `type`. */
export function plannedKind(id: string): PlannedKind {
  const { namesElsewhere = [], consentTypes = [] } = findDestinationKind(id)?.facts ?? {};
  return { namesElsewhere, consentTypes };
}
