import { lineDepthMax } from '../../../shared/contracts/events/frame.ts';
import { textNestsDeeper } from '../../../shared/runtime/json-depth.ts';
import { isWorthTelling, retry } from '../../../shared/runtime/retry.ts';
import { VisitorsRefusedError, VisitorsUnavailableError } from '../../../shared/visitors/visitor-store.ts';
import type { VisitorOutcome, VisitorTouch } from '../../../shared/visitors/visitor-store.ts';
import { eventUnits, Turns } from '../worker/turns.ts';
import type { IngestDeadLetter } from './dead-letters.ts';
import { admitEvent, letterOf } from './admit-event.ts';
import type { Candidate } from './admit-event.ts';
import { drops, leave } from './leaving.ts';
import type { Leaving } from './leaving.ts';
import { OutgoingFrames } from './outgoing-frames.ts';
import type { OutgoingFrame } from './outgoing-frames.ts';
import type { ResolverContext } from './resolver-context.ts';
import type { Part, WaitingEvent } from './waiting-events.ts';

/** What a part became. */
export type ResolvedPart = {
  readonly frames: readonly OutgoingFrame[];
  readonly deadLetters: readonly IngestDeadLetter[];
};

/** What the steps need of their resolver. */
export type StepContext = Omit<ResolverContext, 'connection' | 'partition' | 'predecessors'> & {
  readonly connection: { readonly messageBytesMax: number };
};

/**
 * Admits a part's events, finds their visitors and writes each event with its visitor, in order. What leaves on the way is
 * counted, or kept with its reason, and takes nothing else with it.
 */
export async function resolvePart(context: StepContext, { events, left }: Part): Promise<ResolvedPart> {
  const { settings, connection, allowance, pace, counts, logger } = context;
  const turns = new Turns(() => context.beginTurn());
  const deadLetters = left.flatMap(({ letters }) => letters);
  const candidates = await admit(context, events, { turns, deadLetters });
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
    allowance.earn(candidate.touch.accountId, candidate.accepted.text.length);
    pace.note(candidate.touch.accountId);
    const leaving = write(candidate, outcomes[index], outgoing);
    if (leaving !== undefined) leave(counts, leaving, deadLetters);
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

/** Reads the events and lets those through that are new and wanted, in order. */
async function admit(
  context: StepContext,
  events: readonly WaitingEvent[],
  { turns, deadLetters }: { readonly turns: Turns; readonly deadLetters: IngestDeadLetter[] },
): Promise<readonly Candidate[]> {
  const candidates: Candidate[] = [];
  for (const event of events) {
    const step = admitEvent(context, event);
    if ('kind' in step) leave(context.counts, step, deadLetters);
    else candidates.push(step);
    const over = turns.spend(eventUnits + event.text.length);
    if (over !== undefined) await over;
  }
  return candidates;
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
  if (visitor.kind === 'refused') return letterOf(candidate.accepted, visitor.reason);
  const { id, properties } = visitor;
  // An event that was read is not too deep; what its visitor was given by an earlier build may be.
  if (textNestsDeeper(properties.text, lineDepthMax - 1)) {
    return letterOf(candidate.accepted, `nests deeper than ${lineDepthMax} levels with its visitor`);
  }
  const { hash, json, sentBytes, touch } = candidate;
  const isAdded = outgoing.add({ accountId: touch.accountId, hash, json, sentBytes, visitorId: id, properties });
  return isAdded ? undefined : letterOf(candidate.accepted, 'too large with its visitor');
}
