import { alchemer } from './providers/alchemer.ts';
import { branch } from './providers/branch.ts';
import { calCom } from './providers/cal-com.ts';
import { calendly } from './providers/calendly.ts';
import { callRail } from './providers/callrail.ts';
import { callTrackingMetrics } from './providers/call-tracking-metrics.ts';
import { facebookLeadAds } from './providers/facebook-lead-ads.ts';
import { formsort } from './providers/formsort.ts';
import { formstack } from './providers/formstack.ts';
import { healthie } from './providers/healthie.ts';
import { heyflow } from './providers/heyflow.ts';
import { hubspotActions } from './providers/hubspot-actions.ts';
import { hubspotForms } from './providers/hubspot-forms.ts';
import { jotform } from './providers/jotform.ts';
import { segment } from './providers/segment.ts';
import { typeform } from './providers/typeform.ts';
import { whatConverts } from './providers/what-converts.ts';
import type { SourceKind } from './sdk/source-kind.ts';

/** The source kinds with a known request format. Each kind is one file and one line in this list. */
export const sourceKinds: readonly SourceKind[] = [
  alchemer,
  branch,
  calCom,
  calendly,
  callRail,
  callTrackingMetrics,
  facebookLeadAds,
  formsort,
  formstack,
  healthie,
  heyflow,
  hubspotActions,
  hubspotForms,
  jotform,
  segment,
  typeform,
  whatConverts,
];

const byType = new Map(sourceKinds.map((kind) => [kind.type, kind]));

/** The kind of a source type; undefined for types whose format is our own or arbitrary. */
export function findSourceKind(type: string): SourceKind | undefined {
  return byType.get(type);
}
