import { isStoppedAsBot } from '../../../shared/admission/bot-score.ts';
import { frameLines, lineDepthMax } from '../../../shared/contracts/events/frame.ts';
import type { LogMessage } from '../../../shared/nats/messages/log-message.ts';
import { textNestsDeeper } from '../../../shared/runtime/json-depth.ts';
import { isWorthTelling, retry } from '../../../shared/runtime/retry.ts';
import { VisitorsRefusedError, VisitorsUnavailableError } from '../../../shared/visitors/visitor-store.ts';
import type { VisitorOutcome, VisitorStore, VisitorTouch } from '../../../shared/visitors/visitor-store.ts';
import { hashEvent } from '../../../shared/contracts/events/event-hash.ts';
import type { EventHash } from '../../../shared/contracts/events/event-hash.ts';
import type { IngestDeadLetter } from './dead-letters.ts';
import { encodeEvent } from './encode-event.ts';
import { OutgoingFrames } from './outgoing-frames.ts';
import type { OutgoingFrame } from './outgoing-frames.ts';
import { bodyBytes, readEnvelope } from '../../../shared/contracts/events/envelope.ts';
import { readEvent, readTouch } from './read-event.ts';
import { openResolvePlan } from './resolve-plan.ts';
import { Turns } from '../worker/turns.ts';
import type { ResolverContext, ResolverCounts } from './resolver-context.ts';

/** What the events of a few ingest frames became, or some of them. */
export type ResolvedPart = {
  readonly frames: readonly OutgoingFrame[];
  readonly deadLetters: readonly IngestDeadLetter[];
  readonly isLast: boolean;
};

/** What the steps need of their resolver. */
export type StepContext = Omit<ResolverContext, 'connection' | 'visitors' | 'partition' | 'predecessors'> & {
  readonly connection: { readonly messageBytesMax: number };
  readonly visitors: Pick<VisitorStore, 'resolve'>;
};

/** An accepted frame as the log has it. */
type StoredFrame = Pick<LogMessage, 'seq' | 'data' | 'storedAtMs'>;

/** What a step made of an event: it goes on, or leaves, and why. */
type Step<Next> = ({ readonly kind: 'continue' } & Next) | Leaving;
type Leaving =
  | { readonly kind: 'drop'; readonly reason: keyof typeof counterOfDrop }
  | { readonly kind: 'deadLetter'; readonly letter: IngestDeadLetter };

const counterOfDrop = {
  duplicate: 'duplicates',
  bot: 'bots_dropped',
  notAllowed: 'not_allowed_dropped',
  erased: 'erased_dropped',
} as const satisfies Readonly<Record<string, keyof ResolverCounts>>;

// Made once: many events may leave.
const drops = {
  duplicate: { kind: 'drop', reason: 'duplicate' },
  bot: { kind: 'drop', reason: 'bot' },
  notAllowed: { kind: 'drop', reason: 'notAllowed' },
  erased: { kind: 'drop', reason: 'erased' },
} as const;

/**
 * Turns ingest frames into resolved events, each new, wanted event with its visitor, in order: read, admit, identify,
 * write. What leaves on the way takes nothing else of its frame with it. They come in parts, each made when it is asked
 * for, so that what is held with its visitors is bounded.
 */
export async function* resolveFrames(
  context: StepContext,
  frames: readonly StoredFrame[],
): AsyncGenerator<ResolvedPart, undefined> {
  const { partEventsMax } = context.settings;
  const turns = new Turns(() => context.beginTurn());
  const deadLetters: IngestDeadLetter[] = [];
  let part: Candidate[] = [];
  for await (const candidates of admitAll(context, frames, { deadLetters, turns })) {
    for (const candidate of candidates) {
      if (part.length === partEventsMax) {
        yield { ...(await resolvePart(context, part, { deadLetters: deadLetters.splice(0), turns })), isLast: false };
        part = [];
      }
      part.push(candidate);
    }
  }
  yield { ...(await resolvePart(context, part, { deadLetters: deadLetters.splice(0), turns })), isLast: true };
}

/** What a step is done with: where letters go, and the turns its work is divided into. */
type Doing = { readonly deadLetters: IngestDeadLetter[]; readonly turns: Turns };

/** What an event costs beside its characters, in units of a turn. */
const eventUnits = 512;

/** The events of frames that go on to their visitors, a turn's at a time; what leaves is counted, or among the dead letters. */
async function* admitAll(
  context: StepContext,
  frames: readonly StoredFrame[],
  { deadLetters, turns }: Doing,
): AsyncGenerator<readonly Candidate[], undefined> {
  let candidates: Candidate[] = [];
  for (const frame of frames) {
    const lines = read(frame);
    if (lines.kind !== 'continue') {
      leave(context, lines, deadLetters);
      continue;
    }
    context.counts.events += lines.texts.length;
    for (const [line, text] of lines.texts.entries()) {
      const step = admit(context, text, { frame, line });
      if (step.kind === 'continue') candidates.push(step);
      else leave(context, step, deadLetters);
      const over = turns.spend(eventUnits + text.length);
      if (over === undefined) continue;
      yield candidates;
      candidates = [];
      await over;
    }
  }
  yield candidates;
  return undefined;
}

async function resolvePart(
  context: StepContext,
  candidates: readonly Candidate[],
  { deadLetters, turns }: Doing,
): Promise<Omit<ResolvedPart, 'isLast'>> {
  const { settings, connection, allowance, counts, logger } = context;
  const outcomes = await identify(
    context,
    candidates.map(({ touch }) => touch),
  );
  context.beginTurn();
  const lineBytesMax = connection.messageBytesMax - messageOverheadBytes;
  const frameBytesMax = Math.min(settings.frameBytesMax, Math.floor(lineBytesMax / 2));
  const outgoing = new OutgoingFrames(
    { frameBytesMax, lineBytesMax, writesVisitorsOnce: settings.writesVisitorsOnce, compression: settings.compression },
    allowance,
  );
  for (const [index, candidate] of candidates.entries()) {
    allowance.earn(candidate.touch.accountId, candidate.acceptedBytes);
    const left = write(candidate, outcomes[index], outgoing);
    if (left !== undefined) leave(context, left, deadLetters);
    const over = turns.spend(eventUnits + candidate.json.length);
    if (over !== undefined) await over;
  }
  for (const [accountId, visitors] of outgoing.cutVisitors) {
    counts.visitors_cut += visitors;
    if (allowance.isNews(accountId))
      logger.warn({ accountId }, 'visitors of the account travel cut short: see RESOLVER_VISITOR_SHARE');
  }
  return { frames: outgoing.finish(), deadLetters };
}

function leave({ counts }: StepContext, step: Leaving, deadLetters: IngestDeadLetter[]): void {
  switch (step.kind) {
    case 'drop':
      counts[counterOfDrop[step.reason]] += 1;
      return;
    case 'deadLetter':
      // It is counted once it is kept.
      deadLetters.push(step.letter);
  }
}

function read(frame: StoredFrame): Step<{ readonly texts: readonly string[] }> {
  try {
    return { kind: 'continue', texts: frameLines(frame.data) };
  } catch (error) {
    return deadLetter({ payload: frame.data, reason: reasonOf(error), seq: frame.seq, line: undefined });
  }
}

type Origin = { readonly frame: StoredFrame; readonly line: number };

/**
 * An event on its way through the resolver. It waits for its visitor as a text: hundreds of parsed events that wait
 * would be copied around by every garbage collection.
 */
type Candidate = {
  readonly kind: 'continue';
  readonly origin: Origin;
  readonly hash: EventHash;
  /** The event's part of the resolved event, as JSON. */
  readonly json: string;
  /** What it took in the accepted frame, in UTF-16 units: hardly ever less than its bytes by more than a few. */
  readonly acceptedBytes: number;
  /** What its client sent for it. */
  readonly sentBytes: number;
  readonly touch: VisitorTouch;
};

/** Lets an event through that is new, and that its account's live version lets through. */
function admit(context: StepContext, text: string, origin: Origin): Candidate | Leaving {
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
    return {
      kind: 'continue',
      origin,
      hash,
      json,
      acceptedBytes: text.length,
      sentBytes: bodyBytes(text, envelope),
      touch,
    };
  } catch (error) {
    const { frame, line } = origin;
    return deadLetter({ payload: Buffer.from(text), reason: reasonOf(error), seq: frame.seq, line });
  }
}

/**
 * Finds the visitors of some events, in order. Waits as long as the database is away. A value it refuses is found by
 * halving the batch, so that only its own event is set aside.
 */
async function identify(context: StepContext, touches: readonly VisitorTouch[]): Promise<readonly VisitorOutcome[]> {
  const { counts, logger, visitors, signal } = context;
  if (touches.length === 0) return [];
  try {
    const resolved = await retry(() => visitors.resolve(touches), {
      signal,
      isPassing: (error) => error instanceof VisitorsUnavailableError,
      onRetry: (error, attempt) => {
        counts.visitor_retries += 1;
        if (isWorthTelling(attempt)) logger.warn({ err: error }, 'visitors cannot be reached, retrying');
      },
    });
    counts.visitors_created += resolved.created;
    counts.visitors_updated += resolved.updated;
    counts.visitors_merged += resolved.merged;
    counts.visitors_oversized += resolved.oversized;
    return resolved.outcomes;
  } catch (error) {
    if (!(error instanceof VisitorsRefusedError)) throw error;
    if (touches.length === 1) return [{ kind: 'refused', reason: error.message }];
    const middle = Math.ceil(touches.length / 2);
    const first = await identify(context, touches.slice(0, middle));
    return [...first, ...(await identify(context, touches.slice(middle)))];
  }
}

/** Bytes a message needs beside its events: headers but the ids, and the ids of a single event. */
const messageOverheadBytes = 4_096;

/** Writes an event's line: the event with its visitor. Says why where the event leaves instead. */
function write(
  candidate: Candidate,
  visitor: VisitorOutcome | undefined,
  outgoing: OutgoingFrames,
): Leaving | undefined {
  if (visitor === undefined || visitor.kind === 'erased') return drops.erased;
  if (visitor.kind === 'refused') return letterOf(candidate, visitor.reason);
  const { id, properties } = visitor;
  // An event that was read is not too deep; what its visitor was given by an earlier build may be.
  if (textNestsDeeper(properties.text, lineDepthMax - 1)) {
    return letterOf(candidate, `nests deeper than ${lineDepthMax} levels with its visitor`);
  }
  const { hash, json, sentBytes, touch } = candidate;
  const isAdded = outgoing.add({ accountId: touch.accountId, hash, json, sentBytes, visitorId: id, properties });
  return isAdded ? undefined : letterOf(candidate, 'too large with its visitor');
}

function letterOf({ origin: { frame, line } }: Candidate, reason: string): Leaving {
  return deadLetter({ payload: Buffer.from(frameLines(frame.data)[line] ?? ''), reason, seq: frame.seq, line });
}

const deadLetter = (letter: IngestDeadLetter): Leaving => ({ kind: 'deadLetter', letter });

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
