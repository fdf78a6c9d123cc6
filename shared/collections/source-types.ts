import { words } from './words.ts';

/** Every kind a source may be of. */
export const sourceTypes: readonly string[] = words(`
  AlchemerWebhook AndroidNativeApi Branch CSharpApi CalComWebhooks CalendlyWebhook CallRail CallTrackingMetrics
  DotNetApi FacebookLeadAds FormsortWebhooks Formstack GoLangApi HTTPApiSource Healthie Heyflow
  HubspotAppActions HubspotFormWebhook JotFormWebhooks KotlinApi NodejsApi PHPApi PixelImage PythonApi
  ReactNativeApi RedirectSource RubyApi SegmentWebPlugin TypeformWebhooks WebSource Webhook WhatConverts
  iOSNativeApi
`);

/**
 * Types whose visitor is at the other end of the connection: the address and the User-Agent of a request are the visitor's.
 * For every other type they are a server's, the customer's or a provider's.
 */
export const visitorSourceTypes: ReadonlySet<string> = new Set(
  words(`
    AndroidNativeApi PixelImage ReactNativeApi RedirectSource WebSource
    iOSNativeApi
  `),
);
