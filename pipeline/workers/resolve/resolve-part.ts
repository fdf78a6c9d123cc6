import { lineDepthMax } from '../../../shared/contracts/events/frame.ts';
import type { ByteWriter, Stretch } from '../../../shared/json/byte-writer.ts';
import { isWorthTelling, retry } from '../../../shared/runtime/retry.ts';
import { VisitorsRefusedError, VisitorsUnavailableError } from '../../../shared/visitors/visitor-store.ts';
import type {
  LeftOut,
  ResolvedVisitors,
  VisitorOutcome,
  VisitorTouch,
} from '../../../shared/visitors/visitor-store.ts';
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
  readonly part: Part;
  readonly frames: readonly OutgoingFrame[];
  readonly deadLetters: readonly IngestDeadLetter[];
};

/** What of a part is resolved, and what waits for the database. */
export type LookedUpPart = {
  readonly resolved: ResolvedPart;
  /** Undefined where nothing was to be written to the database. */
  readonly left: LeftPart | undefined;
};

/** All that a part has of some accounts: their visitors are to be written before its events are. */
export type LeftPart = {
  readonly accounts: ReadonlySet<string>;
  /** Writes the visitors, then the events. To be called once. */
  resolve(): Promise<ResolvedPart>;
};

/** What the steps need of their resolver. */
export type StepContext = Omit<ResolverContext, 'connection' | 'partition' | 'predecessors' | 'takePace'> & {
  readonly connection: { readonly messageBytesMax: number };
};

/**
 * Admits a part's events, finds their visitors and writes each event with its visitor, in order. What leaves on the way is
 * counted, or kept with its reason, and takes nothing else with it. Accounts whose visitors are in the database as they
 * are to be do not wait for those with new or changed ones.
 */
export async function resolvePart(context: StepContext, { events, left }: Part): Promise<LookedUpPart> {
  const turns = new Turns(() => context.beginTurn());
  const deadLetters = left.flatMap(({ letters }) => letters);
  const writer = context.eventWriters.take();
  const candidates = await admit({ ...context, writer }, events, { turns, deadLetters });
  const { outcomes, write } = await lookUp(context, touchesOf(candidates));
  context.beginTurn();
  const waiting = candidates.filter((_, index) => outcomes[index] === undefined);
  const waitingEvents = new Set(waiting.map(({ accepted }) => accepted));
  const without = <Item>(items: readonly Item[], eventOf: (item: Item) => WaitingEvent): readonly Item[] =>
    waitingEvents.size === 0 ? items : items.filter((item) => !waitingEvents.has(eventOf(item)));
  const known = without(candidates, ({ accepted }) => accepted);
  const written = await writeLines(context, { candidates: known, writer }, outcomes.filter(isKnown), turns);
  if (waiting.length === 0) context.eventWriters.giveBack(writer);
  return {
    resolved: {
      part: { events: without(events, (event) => event), left },
      frames: written.frames,
      deadLetters: [...deadLetters, ...written.deadLetters],
    },
    left: waiting.length === 0 ? undefined : leftPart(context, { candidates: waiting, writer }, write),
  };
}

/** Events that were admitted, and what has them as JSON. */
type Admitted = { readonly candidates: readonly Candidate[]; readonly writer: ByteWriter };

const bytesOf = ({ start, end }: { readonly start: number; readonly end: number }): number => end - start;

const isKnown = (outcome: VisitorOutcome | undefined): outcome is VisitorOutcome => outcome !== undefined;

const touchesOf = (candidates: readonly Candidate[]): readonly VisitorTouch[] => candidates.map(({ touch }) => touch);

function leftPart(context: StepContext, admitted: Admitted, firstTry: WriteVisitors | undefined): LeftPart {
  const { candidates, writer } = admitted;
  return {
    accounts: new Set(candidates.map(({ accepted }) => accepted.accountId)),
    async resolve() {
      const outcomes = await identify(context, touchesOf(candidates), firstTry);
      context.beginTurn();
      const written = await writeLines(context, admitted, outcomes, new Turns(() => context.beginTurn()));
      context.eventWriters.giveBack(writer);
      return { part: { events: candidates.map(({ accepted }) => accepted), left: [] }, ...written };
    },
  };
}

/** Writes events with their visitors, in order, into frames of their accounts. */
async function writeLines(
  context: StepContext,
  { candidates, writer }: Admitted,
  outcomes: readonly VisitorOutcome[],
  turns: Turns,
): Promise<Omit<ResolvedPart, 'part'>> {
  const { settings, connection, allowance, pace, counts, logger } = context;
  const deadLetters: IngestDeadLetter[] = [];
  const lineBytesMax = connection.messageBytesMax - messageOverheadBytes;
  const frameBytesMax = Math.min(settings.frameBytesMax, Math.floor(lineBytesMax / 2));
  const outgoing = new OutgoingFrames(
    { frameBytesMax, lineBytesMax, writesVisitorsOnce: settings.writesVisitorsOnce, compression: settings.compression },
    allowance,
    context.frameWriters,
  );
  // In another form of loop V8 of Node 20 makes a list of each event and its place.
  let index = -1;
  for (const candidate of candidates) {
    index += 1;
    allowance.earn(candidate.touch.accountId, bytesOf(candidate.accepted));
    pace.note(candidate.touch.accountId);
    const leaving = write(candidate, writer.stretchOf(candidate.json), outcomes[index], outgoing);
    if (leaving !== undefined) leave(counts, leaving, deadLetters);
    const over = turns.spend(eventUnits + bytesOf(candidate.json));
    if (over !== undefined) await over;
  }
  for (const [accountId, visitors] of outgoing.cutVisitors) {
    counts.visitors_cut += visitors;
    if (allowance.isNews(accountId))
      logger.warn({ accountId }, 'visitors of the account travel cut short: see RESOLVER_VISITOR_SHARE');
  }
  return { frames: outgoing.finish(), deadLetters };
}

/** Reads the events, lets those through that are new and wanted, in order, and writes what is theirs of a line. */
async function admit(
  context: StepContext & { readonly writer: ByteWriter },
  events: readonly WaitingEvent[],
  { turns, deadLetters }: { readonly turns: Turns; readonly deadLetters: IngestDeadLetter[] },
): Promise<readonly Candidate[]> {
  const candidates: Candidate[] = [];
  for (const event of events) {
    const step = admitEvent(context, event);
    if ('kind' in step) leave(context.counts, step, deadLetters);
    else candidates.push(step);
    const over = turns.spend(eventUnits + bytesOf(event));
    if (over !== undefined) await over;
  }
  return candidates;
}

type WriteVisitors = () => Promise<ResolvedVisitors>;

/** Looks up the visitors of some events, in order. Where the database refuses a value, all of them are to be written. */
async function lookUp(
  context: StepContext,
  touches: readonly VisitorTouch[],
): Promise<{ readonly outcomes: readonly (VisitorOutcome | undefined)[]; readonly write: WriteVisitors | undefined }> {
  if (touches.length === 0) return { outcomes: [], write: undefined };
  try {
    const found = await untilReached(context, () => context.visitors.lookUp(touches));
    countLeftOut(context.counts, found.leftOut);
    return { outcomes: found.outcomes, write: () => found.write() };
  } catch (error) {
    if (!(error instanceof VisitorsRefusedError)) throw error;
    return { outcomes: touches.map(() => undefined), write: undefined };
  }
}

/**
 * Finds the visitors of some events, in order, and writes them. Waits as long as the database is away. A value it refuses
 * is found by halving the batch, so that only its own event is set aside. `firstTry` is what goes on from their look-up.
 */
async function identify(
  context: StepContext,
  touches: readonly VisitorTouch[],
  firstTry?: WriteVisitors,
): Promise<readonly VisitorOutcome[]> {
  const { counts, visitors } = context;
  if (touches.length === 0) return [];
  let next = firstTry;
  try {
    const resolved = await untilReached(context, () => {
      const go = next ?? (() => visitors.resolve(touches));
      next = undefined;
      return go();
    });
    counts.visitors_created += resolved.created;
    counts.visitors_updated += resolved.updated;
    counts.visitors_merged += resolved.merged;
    countLeftOut(counts, resolved.leftOut);
    return resolved.outcomes;
  } catch (error) {
    if (!(error instanceof VisitorsRefusedError)) throw error;
    if (touches.length === 1) return [{ kind: 'refused', reason: error.message }];
    const middle = Math.ceil(touches.length / 2);
    const first = await identify(context, touches.slice(0, middle));
    return [...first, ...(await identify(context, touches.slice(middle)))];
  }
}

function countLeftOut(counts: StepContext['counts'], { oversized, keptApart, notOverwritten }: LeftOut): void {
  counts.visitors_oversized += oversized;
  counts.people_kept_apart += keptApart;
  counts.server_values_kept += notOverwritten;
}

/** Asks the database for visitors until it answers. */
function untilReached<Result>({ counts, logger, signal }: StepContext, ask: () => Promise<Result>): Promise<Result> {
  return retry(ask, {
    signal,
    isPassing: (error) => error instanceof VisitorsUnavailableError,
    onRetry: (error, attempt) => {
      counts.visitor_retries += 1;
      if (isWorthTelling(attempt)) logger.warn({ err: error }, 'visitors cannot be reached, retrying');
    },
  });
}

/** Bytes a message needs beside its events: headers but the ids, and the ids of a single event. */
const messageOverheadBytes = 4_096;

/** Writes an event's line: the event with its visitor. Says why where the event leaves instead. */
function write(
  candidate: Candidate,
  json: Stretch,
  visitor: VisitorOutcome | undefined,
  outgoing: OutgoingFrames,
): Leaving | undefined {
  if (visitor === undefined || visitor.kind === 'erased') return drops.erased;
  if (visitor.kind === 'refused') return letterOf(candidate.accepted, visitor.reason);
  const { id, properties } = visitor;
  // An event that was read is not too deep; what its visitor was given by an earlier build may be.
  if (properties.nestDeeperThan(lineDepthMax - 1)) {
    return letterOf(candidate.accepted, `nests deeper than ${lineDepthMax} levels with its visitor`);
  }
  const { hash, sentBytes, touch } = candidate;
  const isAdded = outgoing.add({ accountId: touch.accountId, hash, json, sentBytes, visitorId: id, properties });
  return isAdded ? undefined : letterOf(candidate.accepted, 'too large with its visitor');
}
