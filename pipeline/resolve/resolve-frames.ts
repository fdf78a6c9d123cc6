import type { Envelope } from '../../shared/events/envelope.ts';
import { encodeResolved } from '../../shared/events/resolved-event.ts';
import { isStoppedAsBot } from '../../shared/ingest/bot-score.ts';
import type { StoredMessage } from '../../shared/log/unfinished-messages.ts';
import { isJsonObject } from '../../shared/process/json.ts';
import type { VisitorOutcome } from '../../shared/visitors/visitor-store.ts';
import type { IngestDeadLetter } from './dead-letters.ts';
import { hashEvent } from './event-hash.ts';
import type { EventHash } from './event-hash.ts';
import { OutgoingFrames } from './outgoing-frames.ts';
import type { OutgoingFrame } from './outgoing-frames.ts';
import { readEvent, readTouch } from './read-event.ts';
import type { IngestEvent } from './read-event.ts';
import { readFrame } from './read-frame.ts';
import type { FrameLine } from './read-frame.ts';
import { openResolvePlan } from './resolve-plan.ts';
import type { ResolverContext } from './resolver-context.ts';
import { resolveVisitors } from './resolve-visitors.ts';

/** What a few ingest frames became. */
export type ResolvedFrames = {
  readonly frames: readonly OutgoingFrame[];
  readonly deadLetters: readonly IngestDeadLetter[];
};

/** An event on its way through the resolver. */
type Candidate = {
  readonly origin: { readonly seq: number; readonly line: number };
  readonly text: string;
  readonly envelope: Envelope;
  readonly hash: EventHash;
  readonly event: IngestEvent;
};

/** Bytes a message needs beside its events: headers but the ids, and the ids of a single event. */
const messageOverheadBytes = 4_096;

/** Turns ingest frames into resolved events: each new, wanted event with its visitor, in order. */
export async function resolveFrames(
  context: ResolverContext,
  ingested: readonly StoredMessage[],
): Promise<ResolvedFrames> {
  const deadLetters: IngestDeadLetter[] = [];
  const candidates = ingested.flatMap((frame) => readCandidates(context, frame, deadLetters));
  const touches = candidates.map(({ envelope }) => readTouch(envelope));
  const outcomes = await resolveVisitors(context, touches);
  const payloadMax = (context.connection.nc.info?.max_payload ?? 1024 * 1024) - messageOverheadBytes;
  const outgoing = new OutgoingFrames(Math.min(context.settings.frameBytesMax, Math.floor(payloadMax / 2)));
  candidates.forEach((candidate, index) => {
    const outcome = outcomes[index];
    if (outcome === undefined || outcome.kind === 'erased') {
      context.counts.erased_dropped += 1;
    } else if (outcome.kind === 'refused') {
      deadLetters.push(deadLetterOf(candidate, outcome.reason));
    } else {
      const line = encodeEvent(candidate, outcome);
      const bytes = Buffer.byteLength(line);
      if (bytes > payloadMax) deadLetters.push(deadLetterOf(candidate, 'too large with its visitor'));
      else outgoing.add(candidate.envelope.account, line, bytes, candidate.hash);
    }
  });
  return { frames: outgoing.finish(), deadLetters };
}

function readCandidates(
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
    const event = admit(context, envelope);
    return event === undefined ? [] : [{ origin: { seq, line: index }, text: line.line, envelope, hash, event }];
  });
}

/** The event, unless its account's live version drops it. Test events are only looked at, so nothing is dropped there. */
function admit({ plans, counts }: ResolverContext, envelope: Envelope): IngestEvent | undefined {
  const plan = plans(envelope.account) ?? openResolvePlan;
  const rules = plan.sourceRules(envelope.source);
  const event = readEvent(envelope, rules);
  if (envelope.test === true) return event;
  if (isStoppedAsBot(rules.botControl, envelope.bot)) {
    counts.bots_dropped += 1;
    return undefined;
  }
  if (!plan.allows(event.name)) {
    counts.not_allowed_dropped += 1;
    return undefined;
  }
  return event;
}

function encodeEvent({ envelope, event }: Candidate, visitor: Extract<VisitorOutcome, { kind: 'resolved' }>): string {
  const { custom_properties: custom } = visitor.properties;
  return encodeResolved({
    v: 1,
    event: {
      id: envelope.id,
      event: event.name,
      time: event.timeMs,
      received_at: envelope.at,
      source_id: envelope.source,
      account_id: envelope.account,
      test: envelope.test === true,
      event_properties: event.properties,
      context: event.context,
      ...(envelope.trace === undefined ? {} : { trace: envelope.trace }),
    },
    visitor: { ...visitor.properties, id: visitor.id, custom_properties: isJsonObject(custom) ? custom : {} },
  });
}

function deadLetterOf({ origin, text }: Candidate, reason: string): IngestDeadLetter {
  return { payload: Buffer.from(text), reason, seq: origin.seq, line: origin.line };
}
