import type { Envelope } from '../../shared/events/envelope.ts';
import { isStoppedAsBot } from '../../shared/ingest/bot-score.ts';
import type { StoredMessage } from '../../shared/log/unfinished-messages.ts';
import type { IngestDeadLetter } from './dead-letters.ts';
import { hashEvent } from './event-hash.ts';
import type { EventHash } from './event-hash.ts';
import { readEvent } from './read-event.ts';
import type { IngestEvent } from './read-event.ts';
import { readFrame } from './read-frame.ts';
import type { FrameLine } from './read-frame.ts';
import { openResolvePlan } from './resolve-plan.ts';
import type { ResolvePlan } from './resolve-plan.ts';
import type { ResolverContext } from './resolver-context.ts';

/** An event on its way through the resolver. */
export type Candidate = {
  readonly origin: { readonly seq: number; readonly line: number };
  readonly text: string;
  readonly envelope: Envelope;
  readonly hash: EventHash;
  readonly event: IngestEvent;
  readonly versionNumber: number | undefined;
};

/**
 * Reads a frame and keeps the events that are new and that their account's live version lets through. What cannot be
 * read is added to `deadLetters`.
 */
export function readCandidates(
  context: ResolverContext,
  ingested: StoredMessage,
  deadLetters: IngestDeadLetter[],
): Candidate[] {
  const { seq } = ingested;
  let lines: FrameLine[];
  try {
    lines = readFrame(ingested.data);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    deadLetters.push({ payload: ingested.data, reason, seq, line: undefined });
    return [];
  }
  context.counts.events += lines.length;
  return lines.flatMap((line, index) => {
    if (line.kind === 'unreadable') {
      deadLetters.push({ payload: Buffer.from(line.line), reason: line.reason, seq, line: index });
      return [];
    }
    const { envelope } = line;
    const hash = hashEvent(envelope.account, envelope.id);
    if (!context.deduplication.add(hash, ingested.storedAtMs)) {
      context.counts.duplicates += 1;
      return [];
    }
    const plan = context.plans(envelope.account) ?? openResolvePlan;
    const event = readEvent(envelope, plan.sourceRules(envelope.source));
    if (!isAdmitted(context, plan, envelope, event)) return [];
    const { versionNumber } = plan;
    return [{ origin: { seq, line: index }, text: line.line, envelope, hash, event, versionNumber }];
  });
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
