// Made by `npm run generate` from the OpenAPI document; not to be edited.

/** What each operation of the configuration interface answers, by its id. Times are ISO 8601 unless they say ms. */
export type Replies = {
  readonly listDestinations: {
    readonly entities: readonly {
      readonly id: string;
      readonly createdAt: string;
      readonly updatedAt: string | null;
      readonly name: string | null;
      readonly type:
        | 'AWSKinesis'
        | 'AWSLambda'
        | 'AWSSNS'
        | 'ActiveCampaignApi'
        | 'Admitad'
        | 'AdobeAnalytics'
        | 'AmazonDSP'
        | 'Amplitude'
        | 'AppLovin'
        | 'ArtsAI'
        | 'Attentive'
        | 'Audiohook'
        | 'BasisPostback'
        | 'BeeswaxPostback'
        | 'BingAds'
        | 'BingAdsWeb'
        | 'Braze'
        | 'ConvertABTestingEvent'
        | 'Customerio'
        | 'Everflow'
        | 'Facebook'
        | 'FloodlightSGTM'
        | 'FullContact'
        | 'G4Analytics'
        | 'GA4MeasurementProtocol'
        | 'GA4ServerProxy'
        | 'Google'
        | 'GoogleAds360'
        | 'GoogleAdsServerContainer'
        | 'GoogleDataManagerEventIngest'
        | 'GooglePubSub'
        | 'HTTPCustomRequest'
        | 'HTTPDestination'
        | 'Hubspot'
        | 'IHeartMediaMagellan'
        | 'Impact'
        | 'Iterable'
        | 'Klaviyo'
        | 'LinkedInAdsCAPI'
        | 'LiveIntent'
        | 'MNTN'
        | 'Mailchimp'
        | 'Mixpanel'
        | 'NextdoorAds'
        | 'OpenAIAds'
        | 'Outbrain'
        | 'Partnerize'
        | 'Pinterest'
        | 'Plausible'
        | 'Podscribe'
        | 'PostHog'
        | 'QuantcastCAPI'
        | 'QuoraAds'
        | 'Reddit'
        | 'Rokt'
        | 'RokuCAPI'
        | 'SluiceSyntheticData'
        | 'SnapchatAdsCapi'
        | 'Spotify'
        | 'StackAdaptAPI'
        | 'Taboola'
        | 'Tatari'
        | 'TatariCAPI'
        | 'TheTradeDesk'
        | 'TikTok'
        | 'UniversalAds'
        | 'VWO'
        | 'Viant'
        | 'ViantCAPI'
        | 'Vibe'
        | 'Woopra'
        | 'XAds'
        | 'YelpCAPI'
        | 'Zendesk'
        | 'ZohoCRM'
        | 'ZoomInfo'
        | 'AWSEventBridge'
        | 'AWSS3'
        | 'AzureBlob'
        | 'DatabricksWarehouse'
        | 'DomoWarehouse'
        | 'FacebookAudience'
        | 'GoogleAudience'
        | 'GoogleBigQuery'
        | 'GoogleBigQueryWarehouse'
        | 'GoogleStorage'
        | 'LiveRampWarehouse'
        | 'MNTNAudience'
        | 'VibeAudience';
      readonly status: 'Enabled' | 'Disabled';
      readonly settings: Readonly<Record<string, unknown>> | null;
      readonly limitedToSourceIds: readonly string[] | null;
      readonly hashingSalt: string | null;
    }[];
    readonly pagination: { readonly nextCursor: string | null; readonly hasMore: boolean };
  };
  readonly createDestination: {
    readonly id: string;
    readonly createdAt: string;
    readonly updatedAt: string | null;
    readonly name: string | null;
    readonly type:
      | 'AWSKinesis'
      | 'AWSLambda'
      | 'AWSSNS'
      | 'ActiveCampaignApi'
      | 'Admitad'
      | 'AdobeAnalytics'
      | 'AmazonDSP'
      | 'Amplitude'
      | 'AppLovin'
      | 'ArtsAI'
      | 'Attentive'
      | 'Audiohook'
      | 'BasisPostback'
      | 'BeeswaxPostback'
      | 'BingAds'
      | 'BingAdsWeb'
      | 'Braze'
      | 'ConvertABTestingEvent'
      | 'Customerio'
      | 'Everflow'
      | 'Facebook'
      | 'FloodlightSGTM'
      | 'FullContact'
      | 'G4Analytics'
      | 'GA4MeasurementProtocol'
      | 'GA4ServerProxy'
      | 'Google'
      | 'GoogleAds360'
      | 'GoogleAdsServerContainer'
      | 'GoogleDataManagerEventIngest'
      | 'GooglePubSub'
      | 'HTTPCustomRequest'
      | 'HTTPDestination'
      | 'Hubspot'
      | 'IHeartMediaMagellan'
      | 'Impact'
      | 'Iterable'
      | 'Klaviyo'
      | 'LinkedInAdsCAPI'
      | 'LiveIntent'
      | 'MNTN'
      | 'Mailchimp'
      | 'Mixpanel'
      | 'NextdoorAds'
      | 'OpenAIAds'
      | 'Outbrain'
      | 'Partnerize'
      | 'Pinterest'
      | 'Plausible'
      | 'Podscribe'
      | 'PostHog'
      | 'QuantcastCAPI'
      | 'QuoraAds'
      | 'Reddit'
      | 'Rokt'
      | 'RokuCAPI'
      | 'SluiceSyntheticData'
      | 'SnapchatAdsCapi'
      | 'Spotify'
      | 'StackAdaptAPI'
      | 'Taboola'
      | 'Tatari'
      | 'TatariCAPI'
      | 'TheTradeDesk'
      | 'TikTok'
      | 'UniversalAds'
      | 'VWO'
      | 'Viant'
      | 'ViantCAPI'
      | 'Vibe'
      | 'Woopra'
      | 'XAds'
      | 'YelpCAPI'
      | 'Zendesk'
      | 'ZohoCRM'
      | 'ZoomInfo'
      | 'AWSEventBridge'
      | 'AWSS3'
      | 'AzureBlob'
      | 'DatabricksWarehouse'
      | 'DomoWarehouse'
      | 'FacebookAudience'
      | 'GoogleAudience'
      | 'GoogleBigQuery'
      | 'GoogleBigQueryWarehouse'
      | 'GoogleStorage'
      | 'LiveRampWarehouse'
      | 'MNTNAudience'
      | 'VibeAudience';
    readonly status: 'Enabled' | 'Disabled';
    readonly settings: Readonly<Record<string, unknown>> | null;
    readonly limitedToSourceIds: readonly string[] | null;
    readonly hashingSalt: string | null;
  };
  readonly listDestinationTypes: {
    readonly entities: readonly {
      readonly id: string;
      readonly label: string;
      readonly status: 'deprecated' | 'ga';
      readonly capabilities: {
        readonly oauth: boolean;
        readonly listsAccounts: boolean;
        readonly supportsRenamedEvents: boolean;
      };
      readonly settings: readonly (
        | { readonly key: string; readonly type: 'Alert'; readonly label: string }
        | {
            readonly key: string;
            readonly type: 'Select';
            readonly label: string;
            readonly options: readonly { readonly label: string; readonly value: string }[];
            readonly sublabel: string | null;
            readonly required: boolean | null;
            readonly defaultValue: string | null;
          }
        | {
            readonly key: string;
            readonly type: 'Switch';
            readonly label: string;
            readonly required: boolean | null;
            readonly sublabel: string | null;
            readonly defaultValue: boolean | null;
          }
        | {
            readonly key: string;
            readonly type: 'GenericOauth';
            readonly label: string;
            readonly sublabel: string | null;
          }
        | {
            readonly key: string;
            readonly type: 'Text' | 'Secret';
            readonly label: string;
            readonly placeholder: string;
            readonly sublabel: string | null;
            readonly required: boolean | null;
          }
      )[];
    }[];
  };
  readonly listUnavailableDestinationTypes: {
    readonly entities: readonly { readonly id: string; readonly reason: string }[];
  };
  readonly getDestination: {
    readonly id: string;
    readonly createdAt: string;
    readonly updatedAt: string | null;
    readonly name: string | null;
    readonly type:
      | 'AWSKinesis'
      | 'AWSLambda'
      | 'AWSSNS'
      | 'ActiveCampaignApi'
      | 'Admitad'
      | 'AdobeAnalytics'
      | 'AmazonDSP'
      | 'Amplitude'
      | 'AppLovin'
      | 'ArtsAI'
      | 'Attentive'
      | 'Audiohook'
      | 'BasisPostback'
      | 'BeeswaxPostback'
      | 'BingAds'
      | 'BingAdsWeb'
      | 'Braze'
      | 'ConvertABTestingEvent'
      | 'Customerio'
      | 'Everflow'
      | 'Facebook'
      | 'FloodlightSGTM'
      | 'FullContact'
      | 'G4Analytics'
      | 'GA4MeasurementProtocol'
      | 'GA4ServerProxy'
      | 'Google'
      | 'GoogleAds360'
      | 'GoogleAdsServerContainer'
      | 'GoogleDataManagerEventIngest'
      | 'GooglePubSub'
      | 'HTTPCustomRequest'
      | 'HTTPDestination'
      | 'Hubspot'
      | 'IHeartMediaMagellan'
      | 'Impact'
      | 'Iterable'
      | 'Klaviyo'
      | 'LinkedInAdsCAPI'
      | 'LiveIntent'
      | 'MNTN'
      | 'Mailchimp'
      | 'Mixpanel'
      | 'NextdoorAds'
      | 'OpenAIAds'
      | 'Outbrain'
      | 'Partnerize'
      | 'Pinterest'
      | 'Plausible'
      | 'Podscribe'
      | 'PostHog'
      | 'QuantcastCAPI'
      | 'QuoraAds'
      | 'Reddit'
      | 'Rokt'
      | 'RokuCAPI'
      | 'SluiceSyntheticData'
      | 'SnapchatAdsCapi'
      | 'Spotify'
      | 'StackAdaptAPI'
      | 'Taboola'
      | 'Tatari'
      | 'TatariCAPI'
      | 'TheTradeDesk'
      | 'TikTok'
      | 'UniversalAds'
      | 'VWO'
      | 'Viant'
      | 'ViantCAPI'
      | 'Vibe'
      | 'Woopra'
      | 'XAds'
      | 'YelpCAPI'
      | 'Zendesk'
      | 'ZohoCRM'
      | 'ZoomInfo'
      | 'AWSEventBridge'
      | 'AWSS3'
      | 'AzureBlob'
      | 'DatabricksWarehouse'
      | 'DomoWarehouse'
      | 'FacebookAudience'
      | 'GoogleAudience'
      | 'GoogleBigQuery'
      | 'GoogleBigQueryWarehouse'
      | 'GoogleStorage'
      | 'LiveRampWarehouse'
      | 'MNTNAudience'
      | 'VibeAudience';
    readonly status: 'Enabled' | 'Disabled';
    readonly settings: Readonly<Record<string, unknown>> | null;
    readonly limitedToSourceIds: readonly string[] | null;
    readonly hashingSalt: string | null;
  };
  readonly updateDestination: {
    readonly id: string;
    readonly createdAt: string;
    readonly updatedAt: string | null;
    readonly name: string | null;
    readonly type:
      | 'AWSKinesis'
      | 'AWSLambda'
      | 'AWSSNS'
      | 'ActiveCampaignApi'
      | 'Admitad'
      | 'AdobeAnalytics'
      | 'AmazonDSP'
      | 'Amplitude'
      | 'AppLovin'
      | 'ArtsAI'
      | 'Attentive'
      | 'Audiohook'
      | 'BasisPostback'
      | 'BeeswaxPostback'
      | 'BingAds'
      | 'BingAdsWeb'
      | 'Braze'
      | 'ConvertABTestingEvent'
      | 'Customerio'
      | 'Everflow'
      | 'Facebook'
      | 'FloodlightSGTM'
      | 'FullContact'
      | 'G4Analytics'
      | 'GA4MeasurementProtocol'
      | 'GA4ServerProxy'
      | 'Google'
      | 'GoogleAds360'
      | 'GoogleAdsServerContainer'
      | 'GoogleDataManagerEventIngest'
      | 'GooglePubSub'
      | 'HTTPCustomRequest'
      | 'HTTPDestination'
      | 'Hubspot'
      | 'IHeartMediaMagellan'
      | 'Impact'
      | 'Iterable'
      | 'Klaviyo'
      | 'LinkedInAdsCAPI'
      | 'LiveIntent'
      | 'MNTN'
      | 'Mailchimp'
      | 'Mixpanel'
      | 'NextdoorAds'
      | 'OpenAIAds'
      | 'Outbrain'
      | 'Partnerize'
      | 'Pinterest'
      | 'Plausible'
      | 'Podscribe'
      | 'PostHog'
      | 'QuantcastCAPI'
      | 'QuoraAds'
      | 'Reddit'
      | 'Rokt'
      | 'RokuCAPI'
      | 'SluiceSyntheticData'
      | 'SnapchatAdsCapi'
      | 'Spotify'
      | 'StackAdaptAPI'
      | 'Taboola'
      | 'Tatari'
      | 'TatariCAPI'
      | 'TheTradeDesk'
      | 'TikTok'
      | 'UniversalAds'
      | 'VWO'
      | 'Viant'
      | 'ViantCAPI'
      | 'Vibe'
      | 'Woopra'
      | 'XAds'
      | 'YelpCAPI'
      | 'Zendesk'
      | 'ZohoCRM'
      | 'ZoomInfo'
      | 'AWSEventBridge'
      | 'AWSS3'
      | 'AzureBlob'
      | 'DatabricksWarehouse'
      | 'DomoWarehouse'
      | 'FacebookAudience'
      | 'GoogleAudience'
      | 'GoogleBigQuery'
      | 'GoogleBigQueryWarehouse'
      | 'GoogleStorage'
      | 'LiveRampWarehouse'
      | 'MNTNAudience'
      | 'VibeAudience';
    readonly status: 'Enabled' | 'Disabled';
    readonly settings: Readonly<Record<string, unknown>> | null;
    readonly limitedToSourceIds: readonly string[] | null;
    readonly hashingSalt: string | null;
  };
  readonly deleteDestination: boolean;
  readonly getDestinationHealth: {
    readonly status: 'HEALTHY' | 'DEGRADED' | 'UNHEALTHY' | 'NO_DATA';
    readonly windowStart: string;
    readonly windowEnd: string;
    readonly totalDispatches: number;
    readonly successCount: number;
    readonly failureCount: number;
    readonly stoppedCount: number;
    readonly globalStopCount: number;
    readonly successRate: number | null;
    readonly lastDispatchedAt: string | null;
    readonly missed: readonly {
      readonly from: string;
      readonly to: string;
      readonly events: number;
      readonly reason: 'retention' | 'position_lost' | 'event_removed' | 'dead_letters_full' | null;
    }[];
  };
  readonly getDestinationHealthSeries: {
    readonly stepMinutes: number;
    readonly steps: readonly {
      readonly at: number;
      readonly succeeded: number;
      readonly failed: number;
      readonly stopped: number;
      readonly blocked: number;
    }[];
  };
  readonly getDestinationBacklog: {
    readonly waitingFrames: number;
    readonly retryingFrames: number;
    readonly deadLetters: number;
  };
  readonly getDestinationSending: {
    readonly breaker: 'closed' | 'open' | 'probing' | null;
    readonly isAccessRefused: boolean;
    readonly concurrency: number | null;
    readonly answerMs: { readonly half: number; readonly most: number } | null;
    readonly at: string | null;
  };
  readonly listDestinationFailures: {
    readonly entities: readonly {
      readonly reason: string;
      readonly outcome: 'retrying' | 'rejected';
      readonly events: number;
      readonly lastAt: string;
      readonly lastEventId: string;
    }[];
  };
  readonly testDestination: {
    readonly outcome: 'delivered' | 'dropped' | 'retry' | 'held' | 'reject' | 'skipped';
    readonly reason: string | null;
    readonly settings: 'draft' | 'published';
    readonly eventId: string;
    readonly durationMs: number | null;
    readonly request: {
      readonly method: string;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string | null;
    } | null;
    readonly sandbox: {
      readonly scenario:
        | 'success'
        | 'refusal'
        | 'refused-row'
        | 'throttled'
        | 'ended-token'
        | 'malformed'
        | 'too-large'
        | 'unavailable';
      readonly madeUpSettings: readonly string[];
      readonly problems: readonly { readonly field: string; readonly message: string }[];
    } | null;
    readonly answer: {
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    } | null;
  };
  readonly listDeadLetters: {
    readonly entities: readonly {
      readonly seq: number;
      readonly event: { readonly id: string; readonly name: string; readonly time: number; readonly visitorId: string };
      readonly reason: string;
      readonly attempts: number;
      readonly firstAttemptAt: string;
      readonly lastAttemptAt: string;
      readonly request: { readonly method: string; readonly host: string; readonly status: number | null } | null;
    }[];
    readonly pagination: { readonly nextCursor: string | null; readonly hasMore: boolean };
  };
  readonly deleteDeadLetters: {
    readonly deleted: number;
    readonly pagination: { readonly nextCursor: string | null; readonly hasMore: boolean };
  };
  readonly startReplay: {
    readonly id: string;
    readonly destinationId: string;
    readonly what: 'dead-letters' | 'log';
    readonly reason: string | null;
    readonly from: string | null;
    readonly to: string | null;
    readonly status: 'waiting' | 'running' | 'cancelling' | 'cancelled' | 'done';
    readonly createdAt: string;
    readonly updatedAt: string;
    readonly scanned: number;
    readonly queued: number;
    readonly share: number;
  };
  readonly listReplays: {
    readonly entities: readonly {
      readonly id: string;
      readonly destinationId: string;
      readonly what: 'dead-letters' | 'log';
      readonly reason: string | null;
      readonly from: string | null;
      readonly to: string | null;
      readonly status: 'waiting' | 'running' | 'cancelling' | 'cancelled' | 'done';
      readonly createdAt: string;
      readonly updatedAt: string;
      readonly scanned: number;
      readonly queued: number;
      readonly share: number;
    }[];
    readonly pagination: { readonly nextCursor: string | null; readonly hasMore: boolean };
  };
  readonly getReplay: {
    readonly id: string;
    readonly destinationId: string;
    readonly what: 'dead-letters' | 'log';
    readonly reason: string | null;
    readonly from: string | null;
    readonly to: string | null;
    readonly status: 'waiting' | 'running' | 'cancelling' | 'cancelled' | 'done';
    readonly createdAt: string;
    readonly updatedAt: string;
    readonly scanned: number;
    readonly queued: number;
    readonly share: number;
  };
  readonly cancelReplay: {
    readonly id: string;
    readonly destinationId: string;
    readonly what: 'dead-letters' | 'log';
    readonly reason: string | null;
    readonly from: string | null;
    readonly to: string | null;
    readonly status: 'waiting' | 'running' | 'cancelling' | 'cancelled' | 'done';
    readonly createdAt: string;
    readonly updatedAt: string;
    readonly scanned: number;
    readonly queued: number;
    readonly share: number;
  };
  readonly listSources: {
    readonly entities: readonly {
      readonly id: string;
      readonly createdAt: string;
      readonly updatedAt: string | null;
      readonly name: string | null;
      readonly type:
        | 'AlchemerWebhook'
        | 'AndroidNativeApi'
        | 'Branch'
        | 'CSharpApi'
        | 'CalComWebhooks'
        | 'CalendlyWebhook'
        | 'CallRail'
        | 'CallTrackingMetrics'
        | 'DotNetApi'
        | 'FacebookLeadAds'
        | 'FormsortWebhooks'
        | 'Formstack'
        | 'GoLangApi'
        | 'HTTPApiSource'
        | 'Healthie'
        | 'Heyflow'
        | 'HubspotAppActions'
        | 'HubspotFormWebhook'
        | 'JotFormWebhooks'
        | 'KotlinApi'
        | 'NodejsApi'
        | 'PHPApi'
        | 'PixelImage'
        | 'PythonApi'
        | 'ReactNativeApi'
        | 'RedirectSource'
        | 'RubyApi'
        | 'SegmentWebPlugin'
        | 'TypeformWebhooks'
        | 'WebSource'
        | 'Webhook'
        | 'WhatConverts'
        | 'iOSNativeApi';
      readonly status: 'Enabled' | 'Disabled';
      readonly selectedAccountId: string | null;
      readonly whitelistDomains: readonly string[] | null;
      readonly whitelistIps: readonly string[] | null;
      readonly botControlMode: 'Allow' | 'Block' | 'Threshold' | null;
      readonly botScoreThreshold: number | null;
      readonly excludeRequestContext: boolean | null;
      readonly redirectUrl: string | null;
      readonly projectAPIKey: string | null;
      readonly probabilisticIdentity: Readonly<Record<string, unknown>> | null;
      readonly signingSecret: string | null;
      readonly accessToken: string | null;
      readonly accountId: string;
      readonly isPublished: boolean | null;
      readonly lastTriggeredAt: string | null;
      readonly lastDispatchedAt: string | null;
    }[];
    readonly pagination: { readonly nextCursor: string | null; readonly hasMore: boolean };
  };
  readonly createSource: {
    readonly id: string;
    readonly createdAt: string;
    readonly updatedAt: string | null;
    readonly name: string | null;
    readonly type:
      | 'AlchemerWebhook'
      | 'AndroidNativeApi'
      | 'Branch'
      | 'CSharpApi'
      | 'CalComWebhooks'
      | 'CalendlyWebhook'
      | 'CallRail'
      | 'CallTrackingMetrics'
      | 'DotNetApi'
      | 'FacebookLeadAds'
      | 'FormsortWebhooks'
      | 'Formstack'
      | 'GoLangApi'
      | 'HTTPApiSource'
      | 'Healthie'
      | 'Heyflow'
      | 'HubspotAppActions'
      | 'HubspotFormWebhook'
      | 'JotFormWebhooks'
      | 'KotlinApi'
      | 'NodejsApi'
      | 'PHPApi'
      | 'PixelImage'
      | 'PythonApi'
      | 'ReactNativeApi'
      | 'RedirectSource'
      | 'RubyApi'
      | 'SegmentWebPlugin'
      | 'TypeformWebhooks'
      | 'WebSource'
      | 'Webhook'
      | 'WhatConverts'
      | 'iOSNativeApi';
    readonly status: 'Enabled' | 'Disabled';
    readonly selectedAccountId: string | null;
    readonly whitelistDomains: readonly string[] | null;
    readonly whitelistIps: readonly string[] | null;
    readonly botControlMode: 'Allow' | 'Block' | 'Threshold' | null;
    readonly botScoreThreshold: number | null;
    readonly excludeRequestContext: boolean | null;
    readonly redirectUrl: string | null;
    readonly projectAPIKey: string | null;
    readonly probabilisticIdentity: Readonly<Record<string, unknown>> | null;
    readonly signingSecret: string | null;
    readonly accessToken: string | null;
    readonly accountId: string;
    readonly isPublished: boolean | null;
    readonly lastTriggeredAt: string | null;
    readonly lastDispatchedAt: string | null;
  };
  readonly getSource: {
    readonly id: string;
    readonly createdAt: string;
    readonly updatedAt: string | null;
    readonly name: string | null;
    readonly type:
      | 'AlchemerWebhook'
      | 'AndroidNativeApi'
      | 'Branch'
      | 'CSharpApi'
      | 'CalComWebhooks'
      | 'CalendlyWebhook'
      | 'CallRail'
      | 'CallTrackingMetrics'
      | 'DotNetApi'
      | 'FacebookLeadAds'
      | 'FormsortWebhooks'
      | 'Formstack'
      | 'GoLangApi'
      | 'HTTPApiSource'
      | 'Healthie'
      | 'Heyflow'
      | 'HubspotAppActions'
      | 'HubspotFormWebhook'
      | 'JotFormWebhooks'
      | 'KotlinApi'
      | 'NodejsApi'
      | 'PHPApi'
      | 'PixelImage'
      | 'PythonApi'
      | 'ReactNativeApi'
      | 'RedirectSource'
      | 'RubyApi'
      | 'SegmentWebPlugin'
      | 'TypeformWebhooks'
      | 'WebSource'
      | 'Webhook'
      | 'WhatConverts'
      | 'iOSNativeApi';
    readonly status: 'Enabled' | 'Disabled';
    readonly selectedAccountId: string | null;
    readonly whitelistDomains: readonly string[] | null;
    readonly whitelistIps: readonly string[] | null;
    readonly botControlMode: 'Allow' | 'Block' | 'Threshold' | null;
    readonly botScoreThreshold: number | null;
    readonly excludeRequestContext: boolean | null;
    readonly redirectUrl: string | null;
    readonly projectAPIKey: string | null;
    readonly probabilisticIdentity: Readonly<Record<string, unknown>> | null;
    readonly signingSecret: string | null;
    readonly accessToken: string | null;
    readonly accountId: string;
    readonly isPublished: boolean | null;
    readonly lastTriggeredAt: string | null;
    readonly lastDispatchedAt: string | null;
  };
  readonly updateSource: {
    readonly id: string;
    readonly createdAt: string;
    readonly updatedAt: string | null;
    readonly name: string | null;
    readonly type:
      | 'AlchemerWebhook'
      | 'AndroidNativeApi'
      | 'Branch'
      | 'CSharpApi'
      | 'CalComWebhooks'
      | 'CalendlyWebhook'
      | 'CallRail'
      | 'CallTrackingMetrics'
      | 'DotNetApi'
      | 'FacebookLeadAds'
      | 'FormsortWebhooks'
      | 'Formstack'
      | 'GoLangApi'
      | 'HTTPApiSource'
      | 'Healthie'
      | 'Heyflow'
      | 'HubspotAppActions'
      | 'HubspotFormWebhook'
      | 'JotFormWebhooks'
      | 'KotlinApi'
      | 'NodejsApi'
      | 'PHPApi'
      | 'PixelImage'
      | 'PythonApi'
      | 'ReactNativeApi'
      | 'RedirectSource'
      | 'RubyApi'
      | 'SegmentWebPlugin'
      | 'TypeformWebhooks'
      | 'WebSource'
      | 'Webhook'
      | 'WhatConverts'
      | 'iOSNativeApi';
    readonly status: 'Enabled' | 'Disabled';
    readonly selectedAccountId: string | null;
    readonly whitelistDomains: readonly string[] | null;
    readonly whitelistIps: readonly string[] | null;
    readonly botControlMode: 'Allow' | 'Block' | 'Threshold' | null;
    readonly botScoreThreshold: number | null;
    readonly excludeRequestContext: boolean | null;
    readonly redirectUrl: string | null;
    readonly projectAPIKey: string | null;
    readonly probabilisticIdentity: Readonly<Record<string, unknown>> | null;
    readonly signingSecret: string | null;
    readonly accessToken: string | null;
    readonly accountId: string;
    readonly isPublished: boolean | null;
    readonly lastTriggeredAt: string | null;
    readonly lastDispatchedAt: string | null;
  };
  readonly deleteSource: { readonly deleted: true };
  readonly getSourceTokens: {
    readonly token: string;
    readonly testToken: string;
    readonly secret: string | null;
    readonly installScript: string | null;
    readonly testInstallScript: string | null;
  };
  readonly rotateSourceTokens: {
    readonly token: string;
    readonly testToken: string;
    readonly secret: string | null;
    readonly installScript: string | null;
    readonly testInstallScript: string | null;
  };
  readonly rotateSourceSecret: {
    readonly token: string;
    readonly testToken: string;
    readonly secret: string | null;
    readonly installScript: string | null;
    readonly testInstallScript: string | null;
  };
  readonly listVersions: {
    readonly entities: readonly {
      readonly id: string;
      readonly name: string;
      readonly versionNumber: number;
      readonly isPublished: boolean;
      readonly notes: string | null;
      readonly createdAt: string;
      readonly publishedAt: string | null;
      readonly publishedByUserId: string | null;
      readonly publishedByUserName: string | null;
    }[];
    readonly pagination: { readonly nextCursor: string | null; readonly hasMore: boolean };
  };
  readonly createVersion: {
    readonly id: string;
    readonly name: string;
    readonly versionNumber: number;
    readonly isPublished: boolean;
    readonly notes: string | null;
    readonly createdAt: string;
    readonly publishedAt: string | null;
    readonly publishedByUserId: string | null;
    readonly publishedByUserName: string | null;
    readonly quarantineReleased?: readonly {
      readonly rule: string;
      readonly released: number;
      readonly isComplete: boolean;
    }[];
    readonly backlogsLeft?: readonly {
      readonly destinationId: string;
      readonly name: string;
      readonly change: 'removed' | 'disabled';
      readonly waitingFrames: number;
      readonly retryingFrames: number;
      readonly deadLetters: number;
      readonly needsForce: boolean;
      readonly unsentSince: string | null;
    }[];
  };
  readonly getVersion: {
    readonly id: string;
    readonly name: string;
    readonly versionNumber: number;
    readonly isPublished: boolean;
    readonly notes: string | null;
    readonly createdAt: string;
    readonly publishedAt: string | null;
    readonly publishedByUserId: string | null;
    readonly publishedByUserName: string | null;
  };
  readonly updateVersion: {
    readonly id: string;
    readonly name: string;
    readonly versionNumber: number;
    readonly isPublished: boolean;
    readonly notes: string | null;
    readonly createdAt: string;
    readonly publishedAt: string | null;
    readonly publishedByUserId: string | null;
    readonly publishedByUserName: string | null;
  };
  readonly deleteVersion: { readonly deleted: true };
  readonly publishVersion: {
    readonly id: string;
    readonly name: string;
    readonly versionNumber: number;
    readonly isPublished: boolean;
    readonly notes: string | null;
    readonly createdAt: string;
    readonly publishedAt: string | null;
    readonly publishedByUserId: string | null;
    readonly publishedByUserName: string | null;
    readonly quarantineReleased?: readonly {
      readonly rule: string;
      readonly released: number;
      readonly isComplete: boolean;
    }[];
    readonly backlogsLeft?: readonly {
      readonly destinationId: string;
      readonly name: string;
      readonly change: 'removed' | 'disabled';
      readonly waitingFrames: number;
      readonly retryingFrames: number;
      readonly deadLetters: number;
      readonly needsForce: boolean;
      readonly unsentSince: string | null;
    }[];
  };
  readonly getVersionBacklogs: {
    readonly entities: readonly {
      readonly destinationId: string;
      readonly name: string;
      readonly change: 'removed' | 'disabled';
      readonly waitingFrames: number;
      readonly retryingFrames: number;
      readonly deadLetters: number;
      readonly needsForce: boolean;
      readonly unsentSince: string | null;
    }[];
  };
  readonly getVersionRollout: {
    readonly isLive: boolean;
    readonly sentAt: string | null;
    readonly processes: readonly {
      readonly kind: string;
      readonly alive: number;
      readonly running: number;
      readonly since: string | null;
    }[];
  };
  readonly getPrivacyReport: {
    readonly versionNumber: number;
    readonly against: number | null;
    readonly rows: readonly {
      readonly event: string;
      readonly property: string;
      readonly destinationId: string;
      readonly destination: string;
      readonly type: string;
      readonly treatment: 'plain' | 'hashed' | 'redacted' | 'encrypted' | 'reduced' | 'omitted' | 'stopped';
      readonly by: string | null;
      readonly isConditional: boolean;
      readonly purposes: readonly string[];
      readonly consentRule: 'all' | 'any';
      readonly regions: readonly string[];
      readonly destinationRegion: string | null;
    }[];
    readonly added: readonly {
      readonly event: string;
      readonly property: string;
      readonly destinationId: string;
      readonly destination: string;
      readonly type: string;
      readonly treatment: 'plain' | 'hashed' | 'redacted' | 'encrypted' | 'reduced' | 'omitted' | 'stopped';
      readonly by: string | null;
      readonly isConditional: boolean;
      readonly purposes: readonly string[];
      readonly consentRule: 'all' | 'any';
      readonly regions: readonly string[];
      readonly destinationRegion: string | null;
    }[];
    readonly removed: readonly {
      readonly event: string;
      readonly property: string;
      readonly destinationId: string;
      readonly destination: string;
      readonly type: string;
      readonly treatment: 'plain' | 'hashed' | 'redacted' | 'encrypted' | 'reduced' | 'omitted' | 'stopped';
      readonly by: string | null;
      readonly isConditional: boolean;
      readonly purposes: readonly string[];
      readonly consentRule: 'all' | 'any';
      readonly regions: readonly string[];
      readonly destinationRegion: string | null;
    }[];
  };
  readonly getVersionSnapshot: {
    readonly id: string;
    readonly versionNumber: number;
    readonly jsonContent: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
  };
  readonly getVersionDiff: {
    readonly count: number;
    readonly differences: {
      readonly destinations: {
        readonly added: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly removed: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly modified: readonly {
          readonly old: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
          readonly new: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
        }[];
      };
      readonly sources: {
        readonly added: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly removed: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly modified: readonly {
          readonly old: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
          readonly new: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
        }[];
      };
      readonly allowedEvents: {
        readonly added: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly removed: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly modified: readonly {
          readonly old: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
          readonly new: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
        }[];
      };
      readonly externalAllowedEventData: {
        readonly added: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly removed: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly modified: readonly {
          readonly old: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
          readonly new: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
        }[];
      };
      readonly mappings: {
        readonly added: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly removed: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly modified: readonly {
          readonly old: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
          readonly new: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
        }[];
      };
      readonly consentSettings: {
        readonly added: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly removed: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly modified: readonly {
          readonly old: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
          readonly new: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
        }[];
      };
      readonly globalDispatchCenters: {
        readonly added: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly removed: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly modified: readonly {
          readonly old: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
          readonly new: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
        }[];
      };
      readonly replaySettings: {
        readonly added: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly removed: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly modified: readonly {
          readonly old: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
          readonly new: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
        }[];
      };
      readonly tagManagers: {
        readonly added: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly removed: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly modified: readonly {
          readonly old: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
          readonly new: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
        }[];
      };
      readonly tagManagerTags: {
        readonly added: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly removed: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly modified: readonly {
          readonly old: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
          readonly new: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
        }[];
      };
      readonly tagManagerTriggers: {
        readonly added: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly removed: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly modified: readonly {
          readonly old: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
          readonly new: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
        }[];
      };
      readonly tagManagerVariables: {
        readonly added: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly removed: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly modified: readonly {
          readonly old: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
          readonly new: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
        }[];
      };
      readonly dataGovernanceRules: {
        readonly added: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly removed: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly modified: readonly {
          readonly old: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
          readonly new: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
        }[];
      };
      readonly dataGovernanceEvents: {
        readonly added: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly removed: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly modified: readonly {
          readonly old: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
          readonly new: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
        }[];
      };
      readonly experimentSettings: {
        readonly added: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly removed: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly modified: readonly {
          readonly old: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
          readonly new: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
        }[];
      };
      readonly experiments: {
        readonly added: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly removed: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly modified: readonly {
          readonly old: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
          readonly new: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
        }[];
      };
      readonly experimentVariants: {
        readonly added: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly removed: readonly {
          readonly id: string;
          readonly name: string;
          readonly type: string;
          readonly summary: string;
          readonly tagManagerId: string;
        }[];
        readonly modified: readonly {
          readonly old: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
          readonly new: {
            readonly id: string;
            readonly name: string;
            readonly type: string;
            readonly summary: string;
            readonly tagManagerId: string;
          };
        }[];
      };
    };
  };
  readonly getVersionChanges: {
    readonly changes: readonly {
      readonly collection:
        | 'destinations'
        | 'sources'
        | 'allowedEvents'
        | 'externalAllowedEventData'
        | 'mappings'
        | 'consentSettings'
        | 'globalDispatchCenters'
        | 'replaySettings'
        | 'tagManagers'
        | 'tagManagerTags'
        | 'tagManagerTriggers'
        | 'tagManagerVariables'
        | 'dataGovernanceRules'
        | 'dataGovernanceEvents'
        | 'experimentSettings'
        | 'experiments'
        | 'experimentVariants';
      readonly id: string;
      readonly name: string;
      readonly change: 'added' | 'modified' | 'removed';
      readonly fields: readonly { readonly path: string; readonly old?: unknown; readonly new?: unknown }[];
    }[];
  };
  readonly getDraftStatus: {
    readonly collection:
      | 'destinations'
      | 'sources'
      | 'allowedEvents'
      | 'externalAllowedEventData'
      | 'mappings'
      | 'consentSettings'
      | 'globalDispatchCenters'
      | 'replaySettings'
      | 'tagManagers'
      | 'tagManagerTags'
      | 'tagManagerTriggers'
      | 'tagManagerVariables'
      | 'dataGovernanceRules'
      | 'dataGovernanceEvents'
      | 'experimentSettings';
    readonly id: string;
    readonly status: 'added' | 'modified' | 'removed' | null;
  };
  readonly revertDraft: {
    readonly revertedCount: number;
    readonly restoredCount: number;
    readonly discardedCount: number;
    readonly notFoundCount: number;
    readonly remainingChanges: number;
  };
  readonly abandonDraft: {
    readonly revertedCount: number;
    readonly restoredCount: number;
    readonly discardedCount: number;
    readonly notFoundCount: number;
    readonly remainingChanges: number;
  };
  readonly getExperimentResults: {
    readonly experimentId: string;
    readonly key: string;
    readonly name: string;
    readonly type: 'ab' | 'multivariate' | 'personalization';
    readonly status: 'Draft' | 'Running' | 'Paused' | 'Completed';
    readonly primaryMetric: { readonly event: string } | null;
    readonly confidencePercent: number;
    readonly visitors: number;
    readonly conversions: number;
    readonly variants: readonly {
      readonly id: string;
      readonly name: string;
      readonly isControl: boolean;
      readonly expectedShare: number;
      readonly visitors: number;
      readonly conversions: number;
      readonly conversionRate: number | null;
      readonly confidenceInterval: { readonly low: number; readonly high: number } | null;
    }[];
    readonly sampleRatio: {
      readonly chiSquare: number;
      readonly degreesOfFreedom: number;
      readonly pValue: number;
      readonly isMismatch: boolean;
    } | null;
  };
  readonly listEvents: {
    readonly entities: readonly {
      readonly id: string;
      readonly event: string;
      readonly time: number;
      readonly receivedAt: string;
      readonly sourceId: string;
      readonly visitorId: string;
      readonly test: boolean;
      readonly versionNumber: number | null;
      readonly sampleOf: number;
      readonly eventProperties: Readonly<Record<string, unknown>>;
      readonly context: Readonly<Record<string, unknown>>;
      readonly visitor: Readonly<Record<string, unknown>>;
      readonly truncated: boolean;
      readonly plan: {
        readonly outcome: 'reported' | 'changed' | 'quarantined' | 'dropped';
        readonly rules: readonly { readonly rule: string; readonly action: string; readonly property: string | null }[];
        readonly reason: string;
      } | null;
      readonly outcomes: readonly {
        readonly destinationId: string;
        readonly outcome: 'delivered' | 'retrying' | 'rejected' | 'stopped' | 'globalStop';
        readonly reason: string | null;
        readonly attempts: number;
        readonly versionNumber: number | null;
        readonly consent:
          | readonly {
              readonly purpose: string;
              readonly isGranted: boolean;
              readonly layer: 'event' | 'visitor' | 'signal' | 'default' | 'withdrawal';
              readonly detail: string | null;
            }[]
          | null;
        readonly at: string;
      }[];
    }[];
    readonly pagination: { readonly nextCursor: string | null; readonly hasMore: boolean };
  };
  readonly followEvents: {
    readonly events: readonly {
      readonly id: string;
      readonly event: string;
      readonly time: number;
      readonly receivedAt: string;
      readonly sourceId: string;
      readonly visitorId: string;
      readonly test: boolean;
      readonly versionNumber: number | null;
      readonly sampleOf: number;
      readonly eventProperties: Readonly<Record<string, unknown>>;
      readonly context: Readonly<Record<string, unknown>>;
      readonly visitor: Readonly<Record<string, unknown>>;
      readonly truncated: boolean;
      readonly plan: {
        readonly outcome: 'reported' | 'changed' | 'quarantined' | 'dropped';
        readonly rules: readonly { readonly rule: string; readonly action: string; readonly property: string | null }[];
        readonly reason: string;
      } | null;
      readonly outcomes: readonly {
        readonly destinationId: string;
        readonly outcome: 'delivered' | 'retrying' | 'rejected' | 'stopped' | 'globalStop';
        readonly reason: string | null;
        readonly attempts: number;
        readonly versionNumber: number | null;
        readonly consent:
          | readonly {
              readonly purpose: string;
              readonly isGranted: boolean;
              readonly layer: 'event' | 'visitor' | 'signal' | 'default' | 'withdrawal';
              readonly detail: string | null;
            }[]
          | null;
        readonly at: string;
      }[];
    }[];
  };
  readonly countEvents: {
    readonly counts: readonly {
      readonly event: string;
      readonly day: string;
      readonly events: number;
      readonly isSampled: boolean;
    }[];
    readonly isComplete: boolean;
    readonly since: string | null;
    readonly until: string;
  };
  readonly getEvent: {
    readonly id: string;
    readonly event: string;
    readonly time: number;
    readonly receivedAt: string;
    readonly sourceId: string;
    readonly visitorId: string;
    readonly test: boolean;
    readonly versionNumber: number | null;
    readonly sampleOf: number;
    readonly eventProperties: Readonly<Record<string, unknown>>;
    readonly context: Readonly<Record<string, unknown>>;
    readonly visitor: Readonly<Record<string, unknown>>;
    readonly truncated: boolean;
    readonly plan: {
      readonly outcome: 'reported' | 'changed' | 'quarantined' | 'dropped';
      readonly rules: readonly { readonly rule: string; readonly action: string; readonly property: string | null }[];
      readonly reason: string;
    } | null;
    readonly outcomes: readonly {
      readonly destinationId: string;
      readonly outcome: 'delivered' | 'retrying' | 'rejected' | 'stopped' | 'globalStop';
      readonly reason: string | null;
      readonly attempts: number;
      readonly versionNumber: number | null;
      readonly consent:
        | readonly {
            readonly purpose: string;
            readonly isGranted: boolean;
            readonly layer: 'event' | 'visitor' | 'signal' | 'default' | 'withdrawal';
            readonly detail: string | null;
          }[]
        | null;
      readonly at: string;
    }[];
  };
  readonly getEventWays: {
    readonly rules: 'live' | 'draft';
    readonly ways: readonly {
      readonly destinationId: string;
      readonly name: string;
      readonly type: string;
      readonly decision: 'send' | 'skip' | 'stop' | 'globalStop' | 'broken';
      readonly why: string;
      readonly consent:
        | readonly {
            readonly purpose: string;
            readonly isGranted: boolean;
            readonly layer: 'event' | 'visitor' | 'signal' | 'default' | 'withdrawal';
            readonly detail: string | null;
          }[]
        | null;
      readonly ruleId: string | null;
      readonly eventName: string | null;
      readonly properties: Readonly<Record<string, unknown>> | null;
      readonly request: {
        readonly method: string;
        readonly url: string;
        readonly headers: Readonly<Record<string, string>>;
        readonly body: string | null;
      } | null;
    }[];
  };
  readonly tryRulesOnEvent: {
    readonly ways: readonly {
      readonly destinationId: string;
      readonly name: string;
      readonly type: string;
      readonly decision: 'send' | 'skip' | 'stop' | 'globalStop' | 'broken';
      readonly why: string;
      readonly consent:
        | readonly {
            readonly purpose: string;
            readonly isGranted: boolean;
            readonly layer: 'event' | 'visitor' | 'signal' | 'default' | 'withdrawal';
            readonly detail: string | null;
          }[]
        | null;
      readonly ruleId: string | null;
      readonly eventName: string | null;
      readonly properties: Readonly<Record<string, unknown>> | null;
      readonly request: {
        readonly method: string;
        readonly url: string;
        readonly headers: Readonly<Record<string, string>>;
        readonly body: string | null;
      } | null;
    }[];
  };
  readonly getRuleLanguage: {
    readonly operators: readonly {
      readonly name: string;
      readonly summary: string;
      readonly takes: 'nothing' | 'value' | 'text' | 'number' | 'date' | 'list' | 'range' | 'expression';
    }[];
    readonly modifications: readonly { readonly name: string; readonly summary: string }[];
    readonly logicDepthMax: number;
    readonly logicNodesMax: number;
  };
  readonly listVisitors: {
    readonly entities: readonly {
      readonly id: string;
      readonly properties: Readonly<Record<string, unknown>>;
      readonly externalIds: readonly string[];
      readonly emails: readonly string[];
      readonly aliases: readonly string[];
      readonly recentEventCount: number;
      readonly createdAt: string;
      readonly updatedAt: string;
    }[];
    readonly pagination: { readonly nextCursor: string | null; readonly hasMore: boolean };
  };
  readonly getVisitor: {
    readonly id: string;
    readonly properties: Readonly<Record<string, unknown>>;
    readonly externalIds: readonly string[];
    readonly emails: readonly string[];
    readonly aliases: readonly string[];
    readonly recentEventCount: number;
    readonly createdAt: string;
    readonly updatedAt: string;
  };
  readonly deleteVisitor: {
    readonly deleted: true;
    readonly erasureId: string;
    readonly erasedAt: string;
    readonly suppressed: boolean;
    readonly ids: readonly string[];
    readonly recentEventCount: number;
  };
  readonly listVisitorMerges: {
    readonly entities: readonly {
      readonly id: string;
      readonly at: string;
      readonly survivorId: string;
      readonly loserId: string;
      readonly cause: {
        readonly kind: 'signIn' | 'alias' | 'api';
        readonly identifier?: 'externalId';
        readonly eventId?: string;
        readonly sourceId?: string;
        readonly principal?: string;
      };
      readonly loserProperties: Readonly<Record<string, unknown>>;
      readonly overwritten: readonly string[];
      readonly undoneAt: string | null;
      readonly undoneBy: string | null;
    }[];
    readonly pagination: { readonly nextCursor: string | null; readonly hasMore: boolean };
  };
  readonly mergeVisitors: { readonly mergeId: string; readonly survivorId: string; readonly loserId: string };
  readonly splitVisitors: {
    readonly survivorId: string;
    readonly loserId: string;
    readonly takenIdentities: readonly {
      readonly kind: 'externalId' | 'email';
      readonly value: string;
      readonly visitorId: string;
    }[];
  };
  readonly listIdentityCounts: {
    readonly from: string;
    readonly to: string;
    readonly entities: readonly {
      readonly sourceId: string;
      readonly reason: 'blocked' | 'userHash' | 'oversized' | 'keptApart' | 'notOverwritten' | 'full';
      readonly count: number;
      readonly lastAt: string;
    }[];
  };
  readonly listErasures: {
    readonly entities: readonly {
      readonly id: string;
      readonly requestedAt: string;
      readonly erasedAt: string;
      readonly actorId: string;
      readonly actorName: string;
      readonly reference: string | null;
      readonly suppressed: boolean;
      readonly counts: {
        readonly visitors: number;
        readonly identifiers: number;
        readonly recentEvents: number;
        readonly experimentAssignments: number;
        readonly experimentVisitors: number;
      };
      readonly dueAt: string | null;
    }[];
    readonly pagination: { readonly nextCursor: string | null; readonly hasMore: boolean };
  };
  readonly getErasure: {
    readonly id: string;
    readonly requestedAt: string;
    readonly erasedAt: string;
    readonly actorId: string;
    readonly actorName: string;
    readonly reference: string | null;
    readonly suppressed: boolean;
    readonly counts: {
      readonly visitors: number;
      readonly identifiers: number;
      readonly recentEvents: number;
      readonly experimentAssignments: number;
      readonly experimentVisitors: number;
    };
    readonly dueAt: string | null;
    readonly destinations: readonly {
      readonly id: string;
      readonly type: string;
      readonly name: string;
      readonly state: 'pending' | 'requested' | 'done' | 'nothing' | 'manual' | 'failed';
      readonly reason: string | null;
      readonly reference: string | null;
      readonly attempts: number;
      readonly nextAttemptAt: string | null;
      readonly requestedAt: string | null;
      readonly doneAt: string | null;
      readonly confirmedBy: string | null;
    }[];
  };
  readonly retryErasure: {
    readonly id: string;
    readonly requestedAt: string;
    readonly erasedAt: string;
    readonly actorId: string;
    readonly actorName: string;
    readonly reference: string | null;
    readonly suppressed: boolean;
    readonly counts: {
      readonly visitors: number;
      readonly identifiers: number;
      readonly recentEvents: number;
      readonly experimentAssignments: number;
      readonly experimentVisitors: number;
    };
    readonly dueAt: string | null;
    readonly destinations: readonly {
      readonly id: string;
      readonly type: string;
      readonly name: string;
      readonly state: 'pending' | 'requested' | 'done' | 'nothing' | 'manual' | 'failed';
      readonly reason: string | null;
      readonly reference: string | null;
      readonly attempts: number;
      readonly nextAttemptAt: string | null;
      readonly requestedAt: string | null;
      readonly doneAt: string | null;
      readonly confirmedBy: string | null;
    }[];
  };
  readonly confirmErasure: {
    readonly id: string;
    readonly requestedAt: string;
    readonly erasedAt: string;
    readonly actorId: string;
    readonly actorName: string;
    readonly reference: string | null;
    readonly suppressed: boolean;
    readonly counts: {
      readonly visitors: number;
      readonly identifiers: number;
      readonly recentEvents: number;
      readonly experimentAssignments: number;
      readonly experimentVisitors: number;
    };
    readonly dueAt: string | null;
    readonly destinations: readonly {
      readonly id: string;
      readonly type: string;
      readonly name: string;
      readonly state: 'pending' | 'requested' | 'done' | 'nothing' | 'manual' | 'failed';
      readonly reason: string | null;
      readonly reference: string | null;
      readonly attempts: number;
      readonly nextAttemptAt: string | null;
      readonly requestedAt: string | null;
      readonly doneAt: string | null;
      readonly confirmedBy: string | null;
    }[];
  };
  readonly getErasureCertificate: { readonly payload: string; readonly protected: string; readonly signature: string };
  readonly listAccountKeys: {
    readonly keys: readonly {
      readonly kty: 'OKP';
      readonly crv: 'Ed25519';
      readonly x: string;
      readonly kid: string;
      readonly use: 'sig';
      readonly alg: 'EdDSA';
    }[];
  };
  readonly listSuppressions: {
    readonly entities: readonly {
      readonly id: string;
      readonly kind: 'userId' | 'externalId' | 'email' | null;
      readonly suppressedAt: string;
      readonly reference: string | null;
      readonly erasureId: string | null;
    }[];
    readonly pagination: { readonly nextCursor: string | null; readonly hasMore: boolean };
  };
  readonly createSuppressions: {
    readonly created: number;
    readonly existing: number;
    readonly skipped: readonly {
      readonly field: 'userIds' | 'externalIds' | 'emails';
      readonly index: number;
      readonly reason: 'visitor' | 'placeholder';
    }[];
  };
  readonly deleteSuppression: { readonly deleted: true };
  readonly listQuarantine: {
    readonly entities: readonly {
      readonly id: string;
      readonly eventId: string;
      readonly event: string;
      readonly sourceId: string;
      readonly receivedAt: string;
      readonly quarantinedAt: string;
      readonly rules: readonly string[];
      readonly releases: number;
    }[];
    readonly pagination: { readonly nextCursor: string | null; readonly hasMore: boolean };
  };
  readonly releaseQuarantine: {
    readonly released: number;
    readonly pagination: { readonly nextCursor: string | null; readonly hasMore: boolean };
  };
  readonly deleteQuarantine: {
    readonly deleted: number;
    readonly pagination: { readonly nextCursor: string | null; readonly hasMore: boolean };
  };
  readonly listViolations: {
    readonly from: string;
    readonly to: string;
    readonly total: number;
    readonly groupCount: number;
    readonly entities: readonly {
      readonly rule: string;
      readonly ruleName: string | null;
      readonly event: string;
      readonly sourceId: string;
      readonly appVersion: string;
      readonly action: string;
      readonly severity: 'Info' | 'Warning' | 'Error';
      readonly count: number;
      readonly firstAt: string;
      readonly lastAt: string;
      readonly sample: string;
    }[];
  };
  readonly tryTrackingPlan: {
    readonly rules: 'draft' | 'live';
    readonly tried: number;
    readonly skipped: number;
    readonly isComplete: boolean;
    readonly passed: number;
    readonly changed: number;
    readonly quarantined: number;
    readonly dropped: number;
    readonly byRule: readonly {
      readonly rule: string;
      readonly ruleName: string | null;
      readonly action: string;
      readonly severity: 'Info' | 'Warning' | 'Error';
      readonly events: number;
      readonly samples: readonly { readonly eventId: string; readonly event: string; readonly sample: string }[];
    }[];
    readonly untriedRules: readonly string[];
  };
  readonly getAccount: {
    readonly id: string;
    readonly name: string;
    readonly publishOnCreate: boolean;
    readonly masksPersonalData: boolean;
    readonly unknownEvents: {
      readonly action: 'Report' | 'Quarantine' | 'Drop';
      readonly severity: 'Info' | 'Warning' | 'Error';
    };
    readonly unknownProperties: {
      readonly action: 'Report' | 'Omit' | 'Redact' | 'Quarantine' | 'Drop';
      readonly severity: 'Info' | 'Warning' | 'Error';
    };
    readonly identity: {
      readonly emailIdentifies: boolean;
      readonly externalIdsMax: number;
      readonly blockedValues: readonly string[];
      readonly publicKeysOverwrite: boolean;
    };
  };
  readonly updateAccount: {
    readonly id: string;
    readonly name: string;
    readonly publishOnCreate: boolean;
    readonly masksPersonalData: boolean;
    readonly unknownEvents: {
      readonly action: 'Report' | 'Quarantine' | 'Drop';
      readonly severity: 'Info' | 'Warning' | 'Error';
    };
    readonly unknownProperties: {
      readonly action: 'Report' | 'Omit' | 'Redact' | 'Quarantine' | 'Drop';
      readonly severity: 'Info' | 'Warning' | 'Error';
    };
    readonly identity: {
      readonly emailIdentifies: boolean;
      readonly externalIdsMax: number;
      readonly blockedValues: readonly string[];
      readonly publicKeysOverwrite: boolean;
    };
  };
  readonly listKeys: {
    readonly entities: readonly {
      readonly id: string;
      readonly name: string;
      readonly prefix: string;
      readonly scopes: readonly string[];
      readonly createdAt: string;
      readonly expiresAt: string | null;
      readonly revokedAt: string | null;
      readonly lastUsedAt: string | null;
    }[];
    readonly pagination: { readonly nextCursor: string | null; readonly hasMore: boolean };
  };
  readonly createKey: {
    readonly id: string;
    readonly name: string;
    readonly prefix: string;
    readonly scopes: readonly string[];
    readonly createdAt: string;
    readonly expiresAt: string | null;
    readonly revokedAt: string | null;
    readonly lastUsedAt: string | null;
    readonly key: string;
  };
  readonly revokeKey: {
    readonly id: string;
    readonly name: string;
    readonly prefix: string;
    readonly scopes: readonly string[];
    readonly createdAt: string;
    readonly expiresAt: string | null;
    readonly revokedAt: string | null;
    readonly lastUsedAt: string | null;
  };
  readonly listAudit: {
    readonly entities: readonly {
      readonly id: string;
      readonly at: string;
      readonly actorId: string;
      readonly actorName: string;
      readonly action: string;
      readonly collection: string | null;
      readonly entityId: string | null;
      readonly details: Readonly<Record<string, unknown>>;
    }[];
    readonly pagination: { readonly nextCursor: string | null; readonly hasMore: boolean };
  };
  readonly getActivity: {
    readonly range: '15m' | '24h' | '7d';
    readonly firstStepAt: string;
    readonly stepMs: number;
    readonly steps: number;
    readonly problems: readonly {
      readonly level: 'bad' | 'warn';
      readonly kind: 'destination' | 'source' | 'resolver' | 'process' | 'rule';
      readonly id: string | null;
      readonly name: string;
      readonly text: string;
    }[];
    readonly sources: readonly {
      readonly id: string;
      readonly name: string;
      readonly type: string;
      readonly isLive: boolean;
      readonly events: readonly number[];
      readonly total: number;
      readonly testTotal: number;
      readonly refused: {
        readonly lost: number;
        readonly invalid: number;
        readonly limited: number;
        readonly forbidden: number;
      };
      readonly lastTriggeredAt: string | null;
    }[];
    readonly destinations: readonly {
      readonly id: string;
      readonly name: string;
      readonly type: string;
      readonly status: string;
      readonly isLive: boolean;
      readonly health: {
        readonly status: 'HEALTHY' | 'DEGRADED' | 'UNHEALTHY' | 'NO_DATA';
        readonly windowStart: string;
        readonly windowEnd: string;
        readonly totalDispatches: number;
        readonly successCount: number;
        readonly failureCount: number;
        readonly stoppedCount: number;
        readonly globalStopCount: number;
        readonly successRate: number | null;
        readonly lastDispatchedAt: string | null;
        readonly missed: readonly {
          readonly from: string;
          readonly to: string;
          readonly events: number;
          readonly reason: 'retention' | 'position_lost' | 'event_removed' | 'dead_letters_full' | null;
        }[];
      };
      readonly lately: {
        readonly succeeded: number;
        readonly failed: number;
        readonly stopped: number;
        readonly blocked: number;
      };
      readonly inRange: {
        readonly succeeded: number;
        readonly failed: number;
        readonly stopped: number;
        readonly blocked: number;
      };
      readonly succeeded: readonly number[];
      readonly failed: readonly number[];
      readonly backlog: {
        readonly waitingFrames: number;
        readonly retryingFrames: number;
        readonly deadLetters: number;
      };
      readonly warnings: readonly string[];
    }[];
    readonly oldestUnresolvedMs: number | null;
    readonly resolveLagMs: readonly (number | null)[];
    readonly gateways: number;
    readonly pipelines: number;
    readonly live: {
      readonly id: string;
      readonly name: string;
      readonly versionNumber: number;
      readonly isPublished: boolean;
      readonly notes: string | null;
      readonly createdAt: string;
      readonly publishedAt: string | null;
      readonly publishedByUserId: string | null;
      readonly publishedByUserName: string | null;
    } | null;
    readonly draftChanges: number;
  };
  readonly followActivity: {
    readonly range: '15m' | '24h' | '7d';
    readonly firstStepAt: string;
    readonly stepMs: number;
    readonly steps: number;
    readonly problems: readonly {
      readonly level: 'bad' | 'warn';
      readonly kind: 'destination' | 'source' | 'resolver' | 'process' | 'rule';
      readonly id: string | null;
      readonly name: string;
      readonly text: string;
    }[];
    readonly sources: readonly {
      readonly id: string;
      readonly name: string;
      readonly type: string;
      readonly isLive: boolean;
      readonly events: readonly number[];
      readonly total: number;
      readonly testTotal: number;
      readonly refused: {
        readonly lost: number;
        readonly invalid: number;
        readonly limited: number;
        readonly forbidden: number;
      };
      readonly lastTriggeredAt: string | null;
    }[];
    readonly destinations: readonly {
      readonly id: string;
      readonly name: string;
      readonly type: string;
      readonly status: string;
      readonly isLive: boolean;
      readonly health: {
        readonly status: 'HEALTHY' | 'DEGRADED' | 'UNHEALTHY' | 'NO_DATA';
        readonly windowStart: string;
        readonly windowEnd: string;
        readonly totalDispatches: number;
        readonly successCount: number;
        readonly failureCount: number;
        readonly stoppedCount: number;
        readonly globalStopCount: number;
        readonly successRate: number | null;
        readonly lastDispatchedAt: string | null;
        readonly missed: readonly {
          readonly from: string;
          readonly to: string;
          readonly events: number;
          readonly reason: 'retention' | 'position_lost' | 'event_removed' | 'dead_letters_full' | null;
        }[];
      };
      readonly lately: {
        readonly succeeded: number;
        readonly failed: number;
        readonly stopped: number;
        readonly blocked: number;
      };
      readonly inRange: {
        readonly succeeded: number;
        readonly failed: number;
        readonly stopped: number;
        readonly blocked: number;
      };
      readonly succeeded: readonly number[];
      readonly failed: readonly number[];
      readonly backlog: {
        readonly waitingFrames: number;
        readonly retryingFrames: number;
        readonly deadLetters: number;
      };
      readonly warnings: readonly string[];
    }[];
    readonly oldestUnresolvedMs: number | null;
    readonly resolveLagMs: readonly (number | null)[];
    readonly gateways: number;
    readonly pipelines: number;
    readonly live: {
      readonly id: string;
      readonly name: string;
      readonly versionNumber: number;
      readonly isPublished: boolean;
      readonly notes: string | null;
      readonly createdAt: string;
      readonly publishedAt: string | null;
      readonly publishedByUserId: string | null;
      readonly publishedByUserName: string | null;
    } | null;
    readonly draftChanges: number;
  };
  readonly listProcesses: {
    readonly revision: number;
    readonly entities: readonly {
      readonly kind: string;
      readonly instanceId: string;
      readonly startedAt: string;
      readonly revision: number;
      readonly revisionAt: string | null;
      readonly isLeaving: boolean;
      readonly heardMsAgo: number;
    }[];
  };
  readonly listPartitions: {
    readonly entities: readonly {
      readonly partition: number;
      readonly waitingFrames: number;
      readonly oldestMs: number | null;
    }[];
  };
  readonly listWork: {
    readonly entities: readonly {
      readonly instanceId: string;
      readonly threads: readonly {
        readonly thread: number;
        readonly isReady: boolean;
        readonly silentMs: number;
        readonly heapUsedBytes: number;
        readonly utilization: number;
        readonly delayP99Ms: number;
        readonly isLogConnected: boolean;
      }[];
      readonly actors: readonly {
        readonly kind: string;
        readonly key: string;
        readonly thread: number | null;
        readonly state: string;
        readonly failuresInARow: number;
      }[];
      readonly actorsMore: number;
    }[];
  };
  readonly listAlerts: {
    readonly isConfigured: boolean;
    readonly problem: string | null;
    readonly entities: readonly {
      readonly name: string;
      readonly severity: string;
      readonly state: 'pending' | 'firing';
      readonly activeAt: string | null;
      readonly summary: string;
      readonly description: string;
    }[];
  };
  readonly listFindings: {
    readonly lookedAt: string;
    readonly entities: readonly {
      readonly level: 'ok' | 'warn' | 'fail';
      readonly about: string;
      readonly detail: string;
      readonly advice: string | null;
    }[];
  };
  readonly getMe: {
    readonly accountId: string;
    readonly accountName: string;
    readonly keyId: string;
    readonly keyName: string;
    readonly scopes: readonly string[];
  };
  readonly createSignInLink: { readonly code: string; readonly expiresAt: string };
  readonly assignVariant:
    | {
        readonly success: true;
        readonly in_experiment: true;
        readonly experiment_id: string;
        readonly experiment_key: string;
        readonly experiment_name: string;
        readonly variant_id: string;
        readonly variant_name: string;
        readonly is_control: boolean;
        readonly type: 'ab' | 'multivariate' | 'personalization';
        readonly redirect?: string;
      }
    | { readonly success: true; readonly in_experiment: false };
  readonly personalize: {
    readonly success: true;
    readonly properties: Readonly<Record<string, string>>;
    readonly personalizations: readonly {
      readonly experiment_id: string;
      readonly experiment_key: string;
      readonly experiment_name: string;
      readonly variant_id: string;
      readonly variant_name: string;
      readonly assigned_at: string | null;
    }[];
  };
  readonly flags: { readonly success: true; readonly flags: Readonly<Record<string, string | false>> };
  readonly getSession: {
    readonly accounts: readonly {
      readonly accountId: string;
      readonly accountName: string;
      readonly keyId: string;
      readonly keyName: string;
      readonly scopes: readonly string[];
    }[];
  };
  readonly createSession: {
    readonly accounts: readonly {
      readonly accountId: string;
      readonly accountName: string;
      readonly keyId: string;
      readonly keyName: string;
      readonly scopes: readonly string[];
    }[];
  };
  readonly redeemSignInLink: {
    readonly accounts: readonly {
      readonly accountId: string;
      readonly accountName: string;
      readonly keyId: string;
      readonly keyName: string;
      readonly scopes: readonly string[];
    }[];
  };
  readonly deleteSession: {
    readonly accounts: readonly {
      readonly accountId: string;
      readonly accountName: string;
      readonly keyId: string;
      readonly keyName: string;
      readonly scopes: readonly string[];
    }[];
  };
};
