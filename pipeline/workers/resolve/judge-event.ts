import type { Envelope } from '../../../shared/contracts/events/envelope.ts';
import { builtInRules } from '../../../shared/routing/tracking-plan/compile-tracking-plan.ts';
import type { Hit, PlanVerdict, TrackingPlan } from '../../../shared/routing/tracking-plan/compile-tracking-plan.ts';
import type { PlanOutcome } from '../recent/plan-outcomes.ts';
import { drops, heldBy } from './leaving.ts';
import type { Leaving } from './leaving.ts';
import type { ResolverContext } from './resolver-context.ts';
import type { WaitingEvent } from './waiting-events.ts';

/** An event to be judged by its account's tracking plan. */
export type EventToJudge = {
  readonly accepted: WaitingEvent;
  readonly name: string;
  readonly timeMs: number;
  readonly isTest: boolean;
  readonly versionNumber: number | undefined;
  /** Returns the whole envelope, as an object that the tracking plan may change. */
  parse(): Envelope;
};

/** The plan's verdict; undefined if the event continues unchanged. */
export type Judged =
  | { readonly leaving: Leaving }
  | { readonly held: HeldEvent }
  | { readonly changed: Envelope }
  | undefined;

/** An event that is not resolved, and how it ends unless its visitor was erased. */
export type HeldEvent = {
  readonly leaving: Leaving;
  /** Shows the event in the view as quarantined. */
  readonly show: () => void;
};

type JudgeContext = Pick<ResolverContext, 'counts' | 'plan'>;

/**
 * Judges an event by the tracking plan of its account. In test events values are omitted and redacted too, but a test
 * event is dropped or quarantined only if it could not be judged.
 */
export function judgeEvent(context: JudgeContext, trackingPlan: TrackingPlan, event: EventToJudge): Judged {
  if (!trackingPlan.concerns(event.name)) return undefined;
  const { counts } = context;
  const envelope = event.parse();
  const { outcome, hits, changed, units } = trackingPlan.judge(event.name, envelope);
  counts.plan_units += units;
  if (hits.length === 0) return undefined;
  const countHits = (): void => {
    if (!event.isTest) count(context, event.name, envelope, hits);
  };
  const isUnjudged = hits[0]?.rule === builtInRules.tooCostly;
  const leaves = outcome !== 'pass' && (isUnjudged || !event.isTest);
  const plan: PlanOutcome = { outcome: shownOutcome(outcome, changed), rules: hits.slice(0, rulesMax).map(shown) };
  if (leaves) {
    const show = (): void => leave(context, event, envelope, plan);
    if (outcome !== 'drop') {
      // After a restart, deduplication does not know quarantined events: each counts once, when the quarantine stores
      // it.
      const rules = hits.map(({ rule }) => rule);
      return { held: { leaving: heldBy(event.accepted, rules, countHits), show } };
    }
    show();
    countHits();
    return { leaving: drops.plan };
  }
  countHits();
  // An event that is only reported needs no outcome in the view: it is listed among the violations.
  if (event.isTest || changed !== undefined) {
    const { account: accountId, source: sourceId, id } = envelope;
    context.plan.outcomes.note({ accountId, sourceId, id }, plan);
  }
  if (changed === undefined) return undefined;
  if (!event.isTest) counts.plan_changed += 1;
  return { changed };
}

/** Maximum number of rules that the view names for an event. */
const rulesMax = 10;

function count({ counts, plan }: JudgeContext, name: string, envelope: Envelope, hits: readonly Hit[]): void {
  for (const hit of hits) {
    plan.hits.add(hit.rule, 1);
    if (hit.severity === 'Error') counts.plan_errors += 1;
    if (!plan.violations.note({ envelope, name, hit })) counts.violations_skipped += 1;
  }
}

function leave({ counts, plan }: JudgeContext, event: EventToJudge, envelope: Envelope, outcome: PlanOutcome): void {
  const { account: accountId, source: sourceId, id, at: receivedAtMs } = envelope;
  const { name, timeMs, versionNumber } = event;
  const left = { accountId, sourceId, id, name, timeMs, receivedAtMs, versionNumber, plan: outcome };
  if (!plan.outcomes.leave(left)) counts.recent_skipped_behind += 1;
}

function shownOutcome(outcome: PlanVerdict['outcome'], changed: Envelope | undefined): PlanOutcome['outcome'] {
  switch (outcome) {
    case 'drop':
      return 'dropped';
    case 'quarantine':
      return 'quarantined';
    case 'pass':
      return changed === undefined ? 'reported' : 'changed';
  }
}

function shown({ rule, action, property }: Hit): PlanOutcome['rules'][number] {
  return { rule, action, ...(property === undefined ? {} : { property }) };
}
