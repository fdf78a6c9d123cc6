import type { ReactElement } from 'react';
import { State } from '../design/feedback.tsx';
import type { Tone } from '../design/feedback.tsx';

export type PlanAction = 'Report' | 'Omit' | 'Redact' | 'Quarantine' | 'Drop';
export type PlanSeverity = 'Info' | 'Warning' | 'Error';

/** Labels of the actions, with their effect. */
export const actionWords: Readonly<Record<PlanAction, string>> = {
  Report: 'Report: only count it',
  Omit: 'Omit: leave the property out',
  Redact: 'Redact: replace the value',
  Quarantine: 'Quarantine: hold the event',
  Drop: 'Drop: discard the event',
};

const severityTones: Readonly<Record<PlanSeverity, Tone>> = { Info: 'off', Warning: 'warn', Error: 'bad' };

export function Severity({ severity }: { readonly severity: PlanSeverity }): ReactElement {
  return <State tone={severityTones[severity]}>{severity}</State>;
}
