import { words } from './words.ts';

/** Every kind a source may be of. */
export const sourceTypes: readonly string[] = words(`
  AlchemerWebhook AndroidNativeApi Branch CSharpApi CalComWebhooks CalendlyWebhook CallRail CallTrackingMetrics
  DotNetApi FacebookLeadAds FormsortWebhooks Formstack GoLangApi HTTPApiSource Healthie Heyflow
  HubspotAppActions HubspotFormWebhook JotFormWebhooks KotlinApi NodejsApi PHPApi PixelImage PythonApi
  ReactNativeApi RedirectSource RubyApi SegmentWebPlugin TypeformWebhooks WebSource Webhook WhatConverts
  iOSNativeApi
`);
