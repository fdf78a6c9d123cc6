import { OverBudgetError, Work } from '../../../../shared/routing/values/work.ts';
import type { EventHead } from '../../../../shared/contracts/events/resolved-event.ts';
import type { ConsentNow } from '../../../../shared/routing/consent/compile-consent.ts';
import type { Decision } from '../../../../shared/routing/dispatch-plan.ts';
import type { DispatchTarget } from './dispatch-target.ts';
import type { Decided, DispatchItem } from '../sources/dispatch-item.ts';

/** The decision about an event at one attempt. */
export type AttemptDecision =
  | { readonly kind: 'send' }
  /** The destination does not get this event; health does not count it. */
  | { readonly kind: 'skip' }
  /** The event's visitor was erased after the event was received; health counts the event as stopped. */
  | { readonly kind: 'erased' }
  /** A rule stops the event; health counts it. */
  | Extract<Decision, { readonly kind: 'stop' | 'global-stop' | 'no-consent' }>
  /** The rules take more work than one event may cost. */
  | { readonly kind: 'over-budget'; readonly reason: string };

/** An event that is not sent, with the reason. */
export type Exclusion = Exclude<AttemptDecision, { readonly kind: 'send' }>;

export type Deciding = {
  /** Whether the event's visitor was erased after the event was received. */
  readonly isErased: (head: EventHead) => boolean;
  readonly consent: ConsentNow;
  /** Units of work that the rules may spend on one event. */
  readonly eventWorkMax: number;
  spend(units: number): void;
};

const send: AttemptDecision = { kind: 'send' };
const skip: AttemptDecision = { kind: 'skip' };
const erased: AttemptDecision = { kind: 'erased' };

/**
 * Decides an attempt by the live version, and replaces what an earlier attempt decided. Every attempt passes through
 * here, whether the event comes from the account's log, a retry, a parked event or a replay. Throws if the rules read a
 * line that cannot be parsed.
 */
export function decideAttempt(item: DispatchItem, target: DispatchTarget, deciding: Deciding): AttemptDecision {
  const { plan, prepared } = target;
  const { bytesRead } = item;
  item.decided = nothingOf(target, bytesRead);
  if (deciding.isErased(item.head)) return erased;
  if (plan === undefined) return skip;
  const work = new Work(deciding.eventWorkMax);
  let limitedBy: Extract<Decision, { readonly kind: 'send' }>['limitedBy'];
  item.work = work;
  try {
    const decision = plan.decide(item.head, item, deciding.consent);
    if (decision.kind !== 'send') return decision;
    limitedBy = decision.limitedBy;
    const { mapped, consentMode } = decision;
    // Some kinds also send the rest of the event, and mapped properties may be many times as large as the event.
    const bytes = mapped === undefined ? bytesRead : bytesRead + work.written;
    item.decided = { by: target, mapped, isLimited: limitedBy !== undefined, consentMode, bytes, group: undefined };
  } catch (error) {
    if (!(error instanceof OverBudgetError)) throw error;
    return { kind: 'over-budget', reason: error.message };
  } finally {
    item.work = undefined;
    if (work.spent > 0) deciding.spend(work.spent);
  }
  if (prepared.accepts?.(item) === false) return limitedBy ?? skip;
  const group = prepared.groupOf?.(item);
  if (group !== undefined) item.decided = { ...item.decided, group };
  item.work = new Work(deciding.eventWorkMax);
  return send;
}

const nothingOf = (by: DispatchTarget, bytes: number): Decided => ({
  by,
  mapped: undefined,
  isLimited: false,
  consentMode: undefined,
  bytes,
  group: undefined,
});

/**
 * Whether the decision to send an event still holds: its version is still live, and its visitor was not erased and
 * still consents. Checked when the event's turn has come, and again before the first byte of its request is sent.
 */
export function isDecided(
  item: DispatchItem,
  target: DispatchTarget | undefined,
  { isErased, consent }: Pick<Deciding, 'isErased' | 'consent'>,
): boolean {
  if (target?.plan === undefined || item.decidedBy !== target || isErased(item.head)) return false;
  // The full check is rare: hardly any visitor has withdrawn consent.
  return consent.lastWords(item.head) === undefined || target.plan.isConsented(item.head, item, consent);
}
