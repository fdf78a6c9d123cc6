import type { PurposeAnswer } from '../../../../shared/routing/consent/purpose-answer.ts';
import type { Exclusion } from '../admission/decide-attempt.ts';
import type { HealthKeeper } from '../health/health-keeper.ts';
import type { DispatchItem } from '../sources/dispatch-item.ts';
import { countConsentStop } from './consent-stops.ts';
import { countMove } from './count-move.ts';
import type { OutcomeObserver } from './outcome-observer.ts';

/** Why an event that is for the destination is not sent. */
export type Stop = Extract<Exclusion, { readonly kind: 'stop' | 'global-stop' | 'no-consent' | 'erased' }>;

export type StopRecords = {
  readonly counts: Record<'stopped' | 'global_stopped' | 'consent_stopped' | 'erased', number>;
  readonly health: Pick<HealthKeeper, 'record' | 'countMove'>;
  readonly observe: OutcomeObserver;
};

/** Counts a stopped event, also in health, and reports the reason. */
export function recordStop({ counts, health, observe }: StopRecords, item: DispatchItem, stop: Stop): void {
  health.record(stop.kind === 'global-stop' ? 'globalStop' : 'stopped', 1);
  switch (stop.kind) {
    case 'stop':
      counts.stopped += 1;
      countMove(health, item, `stopped mapping ${stop.ruleId}`);
      observe(item, 'stopped', item.attempts, `mapping ${stop.ruleId}`);
      return;
    case 'global-stop':
      counts.global_stopped += 1;
      countMove(health, item, `stopped category ${stop.category}`);
      observe(item, 'globalStop', item.attempts, stop.category);
      return;
    case 'no-consent':
      countConsentStop(counts, stop.purpose, stop.answers.find(({ isGranted }) => !isGranted)?.layer);
      countMove(health, item, `stopped consent ${stop.purpose}`);
      observe(item, 'stopped', item.attempts, `consent: ${stop.purpose}`, { consent: answersOf(stop) });
      return;
    case 'erased':
      counts.erased += 1;
      countMove(health, item, 'stopped erased');
      observe(item, 'stopped', item.attempts, 'erased');
  }
}

/** Maximum number of purposes stored for a stop; refused purposes come first. */
const answersMax = 20;

function answersOf({ answers }: Extract<Stop, { readonly kind: 'no-consent' }>): readonly PurposeAnswer[] {
  return answers.toSorted((a, b) => Number(a.isGranted) - Number(b.isGranted)).slice(0, answersMax);
}
