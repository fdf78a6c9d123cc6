import { words } from './words.ts';

/** Every type a source may have. */
export const sourceTypes: readonly string[] = words(`
  AlchemerWebhook AndroidNativeApi Branch CSharpApi CalComWebhooks CalendlyWebhook CallRail CallTrackingMetrics
  DotNetApi FacebookLeadAds FormsortWebhooks Formstack GoLangApi HTTPApiSource Healthie Heyflow
  HubspotAppActions HubspotFormWebhook JotFormWebhooks KotlinApi NodejsApi PHPApi PixelImage PythonApi
  ReactNativeApi RedirectSource RubyApi SegmentWebPlugin TypeformWebhooks WebSource Webhook WhatConverts
  iOSNativeApi
`);

/**
 * Types whose requests come directly from the visitor, so that the request's IP address and User-Agent are the
 * visitor's. For all other types they are the address and User-Agent of a server of the customer or of a provider.
 */
export const visitorSourceTypes: ReadonlySet<string> = new Set(
  words(`
    AndroidNativeApi PixelImage ReactNativeApi RedirectSource WebSource
    iOSNativeApi
  `),
);
