import type { Envelope } from '../../../shared/contracts/events/envelope.ts';
import { builtInRules } from '../../../shared/routing/tracking-plan/compile-tracking-plan.ts';
import type { TrackingPlan } from '../../../shared/routing/tracking-plan/compile-tracking-plan.ts';
import { drops, heldBy } from './leaving.ts';
import type { Leaving } from './leaving.ts';
import type { ResolverContext } from './resolver-context.ts';
import type { WaitingEvent } from './waiting-events.ts';

/** An event before its account's tracking plan. */
export type EventToJudge = {
  readonly accepted: WaitingEvent;
  readonly name: string;
  readonly isTest: boolean;
  /** The envelope, parsed as a whole and nobody else's. */
  parse(): Envelope;
};

/** What the plan makes of an event; undefined where it goes on as it is. */
export type Judged = { readonly leaving: Leaving } | { readonly changed: Envelope } | undefined;

type JudgeContext = Pick<ResolverContext, 'counts' | 'planHits'>;

/**
 * Judges an event by the tracking plan of its account. Test events are only looked at: what is omitted and redacted is, and
 * nothing leaves, unless it was not judged.
 */
export function judgeEvent({ counts, planHits }: JudgeContext, plan: TrackingPlan, event: EventToJudge): Judged {
  if (!plan.concerns(event.name)) return undefined;
  const { outcome, hits, changed, units } = plan.judge(event.name, event.parse());
  counts.plan_units += units;
  if (!event.isTest) for (const { rule } of hits) planHits.add(rule, 1);
  const isUnjudged = hits[0]?.rule === builtInRules.tooCostly;
  if (outcome === 'quarantine' && (isUnjudged || !event.isTest)) {
    return {
      leaving: heldBy(
        event.accepted,
        hits.map(({ rule }) => rule),
      ),
    };
  }
  if (outcome === 'drop' && !event.isTest) return { leaving: drops.plan };
  return changed === undefined ? undefined : { changed };
}
