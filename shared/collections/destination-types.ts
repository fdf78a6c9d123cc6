import { destinationKinds } from '../destinations/registry.ts';
import { words } from './words.ts';

/** Kinds that are known by name: those no build offers yet are refused as such. */
const namedTypes = words(`
  AWSKinesis AWSLambda AWSSNS ActiveCampaignApi Admitad AdobeAnalytics AmazonDSP Amplitude AppLovin ArtsAI
  Attentive Audiohook BasisPostback BeeswaxPostback BingAds BingAdsWeb Braze ConvertABTestingEvent Customerio
  Everflow Facebook FloodlightSGTM FullContact G4Analytics GA4MeasurementProtocol GA4ServerProxy Google
  GoogleAds360 GoogleAdsServerContainer GoogleDataManagerEventIngest GooglePubSub HTTPCustomRequest
  HTTPDestination Hubspot IHeartMediaMagellan Impact Iterable Klaviyo LinkedInAdsCAPI LiveIntent MNTN Mailchimp
  Mixpanel NextdoorAds OpenAIAds Outbrain Partnerize Pinterest Plausible Podscribe PostHog QuantcastCAPI
  QuoraAds Reddit Rokt RokuCAPI SluiceSyntheticData SnapchatAdsCapi Spotify StackAdaptAPI Taboola Tatari
  TatariCAPI TheTradeDesk TikTok UniversalAds VWO Viant ViantCAPI Vibe Woopra XAds YelpCAPI Zendesk ZohoCRM
  ZoomInfo
`);

/** Kinds that `POST /rest/v1/destinations` may create, once a build offers them: those known by name, and every one offered. */
export const creatableDestinationTypes: readonly string[] = [
  ...new Set([...namedTypes, ...destinationKinds.map(({ descriptor }) => descriptor.id)]),
];

/** Kinds that can be read and never created. */
export const readOnlyDestinationTypes: readonly string[] = words(`
  AWSEventBridge AWSS3 AzureBlob DatabricksWarehouse DomoWarehouse FacebookAudience GoogleAudience
  GoogleBigQuery GoogleBigQueryWarehouse GoogleStorage LiveRampWarehouse MNTNAudience VibeAudience
`);

/** Every kind a destination may be of. */
export const destinationTypes: readonly string[] = [...creatableDestinationTypes, ...readOnlyDestinationTypes];
