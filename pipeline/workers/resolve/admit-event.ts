import { isStoppedAsBot } from '../../../shared/admission/bot-score.ts';
import { bodyBytes, readEnvelope } from '../../../shared/contracts/events/envelope.ts';
import { hashEvent } from '../../../shared/contracts/events/event-hash.ts';
import type { EventHash } from '../../../shared/contracts/events/event-hash.ts';
import type { VisitorTouch } from '../../../shared/visitors/visitor-store.ts';
import { encodeEvent } from './encode-event.ts';
import { deadLetter, drops } from './leaving.ts';
import type { Leaving } from './leaving.ts';
import { readEvent, readTouch } from './read-event.ts';
import { openResolvePlan } from './resolve-plan.ts';
import type { ResolverContext } from './resolver-context.ts';
import type { WaitingEvent } from './waiting-events.ts';

/**
 * An event that was admitted and waits for its visitor. It waits as a text: hundreds of parsed events that wait would be
 * copied around by every garbage collection.
 */
export type Candidate = {
  readonly accepted: WaitingEvent;
  readonly hash: EventHash;
  /** The event's part of the resolved event, as JSON. */
  readonly json: string;
  /** What its client sent for it. */
  readonly sentBytes: number;
  readonly touch: VisitorTouch;
};

type AdmitContext = Pick<ResolverContext, 'deduplication' | 'plans'>;

/** Reads an event, and lets it through if it is new and its account's live version lets it through. */
export function admitEvent(context: AdmitContext, accepted: WaitingEvent): Candidate | Leaving {
  const { origin, text } = accepted;
  try {
    const envelope = readEnvelope(text);
    const touch = readTouch(envelope);
    const hash = hashEvent(envelope.account, envelope.id, touch.claim);
    if (!context.deduplication.add(hash, origin.frame.storedAtMs)) return drops.duplicate;
    const plan = context.plans(envelope.account) ?? openResolvePlan;
    const rules = plan.sourceRules(envelope.source);
    const event = readEvent(envelope, rules);
    // Test events are only looked at, so nothing is dropped there.
    if (envelope.test !== true) {
      if (isStoppedAsBot(rules.botControl, envelope.bot)) return drops.bot;
      if (!plan.allows(event.name)) return drops.notAllowed;
    }
    const json = encodeEvent(envelope, event, plan.versionNumber);
    return { accepted, hash, json, sentBytes: bodyBytes(text, envelope), touch };
  } catch (error) {
    return letterOf(accepted, error instanceof Error ? error.message : String(error));
  }
}

/** The event as it was accepted, with the reason why it is kept so. */
export function letterOf({ origin: { frame, line }, text }: WaitingEvent, reason: string): Leaving {
  return deadLetter({ payload: Buffer.from(text), reason, seq: frame.seq, line });
}
