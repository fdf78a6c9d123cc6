import { words } from './words.ts';

/**
 * Kinds that `POST /rest/v1/destinations` may create if the build offers them. The list is separate from the kinds'
 * code, so that a process that only reads configuration does not load that code. `registry.test.ts` fails if an offered
 * kind is missing here.
 */
export const creatableDestinationTypes: readonly string[] = words(`
  AWSKinesis AWSLambda AWSSNS AWSSQS ActiveCampaignApi Admitad AdobeAnalytics AmazonDSP AmazonEventBridge Amplitude
  AppLovin ArtsAI Attentive Audiohook AzureEventHubs BasisPostback BeeswaxPostback BingAds BingAdsWeb Braze ConvertABTestingEvent Customerio
  Everflow Facebook FloodlightSGTM FullContact G4Analytics GA4MeasurementProtocol GA4ServerProxy Google
  GoogleAds360 GoogleAdsServerContainer GoogleDataManagerEventIngest GooglePubSub HTTPCustomRequest
  HTTPDestination Hubspot IHeartMediaMagellan Impact Iterable Kafka Klaviyo LinkedInAdsCAPI LiveIntent MNTN Mailchimp
  Mixpanel NextdoorAds OpenAIAds Outbrain Partnerize Pinterest Plausible Podscribe PostHog QuantcastCAPI
  QuoraAds Reddit RedisStreams Rokt RokuCAPI SMTP Slack SluiceSyntheticData SnapchatAdsCapi Spotify StackAdaptAPI Taboola Tatari
  TatariCAPI TheTradeDesk TikTok UniversalAds VWO Viant ViantCAPI Vibe Woopra XAds YelpCAPI Zendesk ZohoCRM
  ZoomInfo
`);

/** Kinds that can be read but never created. */
const readOnlyDestinationTypes: readonly string[] = words(`
  AWSEventBridge AWSS3 AzureBlob DatabricksWarehouse DomoWarehouse FacebookAudience GoogleAudience
  GoogleBigQuery GoogleBigQueryWarehouse GoogleStorage LiveRampWarehouse MNTNAudience VibeAudience
`);

/** Every type a destination may have. */
export const destinationTypes: readonly string[] = [...creatableDestinationTypes, ...readOnlyDestinationTypes];
