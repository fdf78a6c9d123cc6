import { readEnvelope } from '../../../shared/contracts/events/envelope.ts';
import type { Envelope } from '../../../shared/contracts/events/envelope.ts';
import { frameLines } from '../../../shared/contracts/events/frame.ts';
import { isStoppedAsBot } from '../../../shared/admission/bot-score.ts';
import type { Delivery } from '../../../shared/nats/messages/delivery.ts';
import type { VisitorTouch } from '../../../shared/visitors/visitor-store.ts';
import type { IngestDeadLetter } from './dead-letters.ts';
import { encodeEvent } from './encode-event.ts';
import { hashEvent } from '../../../shared/contracts/events/event-hash.ts';
import type { EventHash } from '../../../shared/contracts/events/event-hash.ts';
import { readEvent, readTouch } from './read-event.ts';
import type { IngestEvent } from './read-event.ts';
import { openResolvePlan } from './resolve-plan.ts';
import type { ResolvePlan } from './resolve-plan.ts';
import type { ResolverContext } from './resolver-context.ts';

/**
 * An event on its way through the resolver. It waits for its visitor as a text: hundreds of parsed events that wait
 * would be copied around by every garbage collection.
 */
/** An accepted frame as the log has it. */
export type StoredFrame = Pick<Delivery, 'seq' | 'data' | 'storedAtMs'>;

export type Candidate = {
  readonly origin: { readonly frame: StoredFrame; readonly line: number };
  readonly hash: EventHash;
  /** The event's part of the resolved event, as JSON. */
  readonly json: string;
  readonly touch: VisitorTouch;
};

/**
 * Reads a frame and keeps the events that are new and that their account's live version lets through. What cannot be
 * read is added to `deadLetters`; it does not take the rest of its frame with it.
 */
export function readCandidates(
  context: ResolverContext,
  ingested: StoredFrame,
  deadLetters: IngestDeadLetter[],
): Candidate[] {
  const { seq, data } = ingested;
  const candidates: Candidate[] = [];
  let lines: readonly string[];
  try {
    lines = frameLines(data);
  } catch (error) {
    deadLetters.push({ payload: data, reason: reasonOf(error), seq, line: undefined });
    return candidates;
  }
  context.counts.events += lines.length;
  lines.forEach((text, line) => {
    try {
      const candidate = readCandidate(context, text, { frame: ingested, line });
      if (candidate !== undefined) candidates.push(candidate);
    } catch (error) {
      deadLetters.push({ payload: Buffer.from(text), reason: reasonOf(error), seq, line });
    }
  });
  return candidates;
}

function readCandidate(context: ResolverContext, text: string, origin: Candidate['origin']): Candidate | undefined {
  const envelope = readEnvelope(text);
  const touch = readTouch(envelope);
  const hash = hashEvent(envelope.account, envelope.id, touch.claim);
  if (!context.deduplication.add(hash, origin.frame.storedAtMs)) {
    context.counts.duplicates += 1;
    return undefined;
  }
  const plan = context.plans(envelope.account) ?? openResolvePlan;
  const event = readEvent(envelope, plan.sourceRules(envelope.source));
  if (!isAdmitted(context, plan, envelope, event)) return undefined;
  const json = encodeEvent(envelope, event, plan.versionNumber);
  return { origin, hash, json, touch };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Test events are only looked at, so nothing is dropped there. */
function isAdmitted({ counts }: ResolverContext, plan: ResolvePlan, envelope: Envelope, event: IngestEvent): boolean {
  if (envelope.test === true) return true;
  if (isStoppedAsBot(plan.sourceRules(envelope.source).botControl, envelope.bot)) {
    counts.bots_dropped += 1;
    return false;
  }
  if (!plan.allows(event.name)) {
    counts.not_allowed_dropped += 1;
    return false;
  }
  return true;
}
