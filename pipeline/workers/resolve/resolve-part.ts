import { lineDepthMax } from '../../../shared/contracts/events/frame.ts';
import type { ByteWriter, Stretch } from '../../../shared/json/byte-writer.ts';
import type { Backoff } from '../../../shared/runtime/retry.ts';
import { isWorthTelling, retry } from '../../../shared/runtime/retry.ts';
import {
  leftOutReasons,
  VisitorsFailedError,
  VisitorsRefusedError,
  VisitorsUnavailableError,
} from '../../../shared/visitors/visitor-store.ts';
import type {
  LeftOut,
  LeftOutReason,
  ResolvedVisitors,
  VisitorOutcome,
  VisitorTouch,
} from '../../../shared/visitors/visitor-store.ts';
import type { ConsentChange } from '../../../shared/nats/erasures/announce-withdrawals.ts';
import { eventUnits, Turns } from '../worker/turns.ts';
import type { IngestDeadLetter } from './dead-letters.ts';
import { admitEvent } from './admit-event.ts';
import type { Candidate } from './admit-event.ts';
import type { HeldEvent } from './judge-event.ts';
import { drops, leave, letterOf } from './leaving.ts';
import type { Leaving } from './leaving.ts';
import { OutgoingFrames } from './outgoing-frames.ts';
import type { OutgoingFrame } from './outgoing-frames.ts';
import { samplePersonalData } from './personal-data.ts';
import type { ResolverContext } from './resolver-context.ts';
import type { Part, WaitingEvent } from './waiting-events.ts';

/** What a batch produces: frames, dead letters and changes of consent. */
export type ResolvedPart = {
  readonly part: Part;
  readonly frames: readonly OutgoingFrame[];
  readonly deadLetters: readonly IngestDeadLetter[];
  /** Must be announced before the frames are published. */
  readonly consents: readonly ConsentChange[];
};

/** The resolved events of a batch, and those whose visitors must first be written to the database. */
export type LookedUpPart = {
  readonly resolved: ResolvedPart;
  /** Undefined if no visitor has to be written. */
  readonly left: LeftPart | undefined;
  /** Events of the accounts whose visitors were not looked up, because `isApart` excluded them. */
  readonly apart: readonly AccountPart[];
};

/** Events of a batch that wait until their visitors are written; of one or more accounts. */
export type LeftPart = {
  readonly accounts: ReadonlySet<string>;
  readonly events: readonly WaitingEvent[];
  /**
   * Writes the visitors, then the events. Returns undefined, and writes nothing, if the database works but fails for
   * one of these visitors without showing for which. Call it once.
   */
  resolve(): Promise<ResolvedPart | undefined>;
  /** Splits the work into batches of one account each. Call it instead of `resolve`, or after `resolve` failed. */
  byAccount(): readonly AccountPart[];
};

/** Waiting events of one account. */
export type AccountPart = LeftPart & {
  readonly accountId: string;
  /**
   * Call it instead of `resolve`, or after that failed: finds the events for whose visitors the database fails, and
   * makes them dead letters. May need a statement for each event; runs each in a call of `turn`.
   */
  resolveApart(turn: Turn): Promise<ResolvedApart>;
};

/** `isWell` is false if the database failed for a visitor at any try, even if a later try succeeded. */
export type ResolvedApart = { readonly resolved: ResolvedPart; readonly isWell: boolean };

/** Runs a statement when its turn comes. */
export type Turn = <Result>(statement: () => Promise<Result>) => Promise<Result>;

/** The part of the resolver's context that resolving a batch needs. */
export type StepContext = Omit<ResolverContext, 'connection' | 'partition' | 'writer' | 'isOnlyAccount'> & {
  readonly connection: { readonly messageBytesMax: number };
};

/**
 * Admits a batch's events, finds their visitors and writes each event with its visitor, in order. Events that are
 * dropped are counted, those that fail become dead letters; neither affects other events. Accounts without changed
 * visitors do not wait for accounts with new or changed ones. Visitors of accounts for which `isApart` is true are not
 * looked up here.
 */
export async function resolvePart(
  context: StepContext,
  { events, left }: Part,
  isApart: (accountId: string) => boolean,
): Promise<LookedUpPart> {
  const turns = new Turns(() => context.beginTurn());
  const deadLetters = left.flatMap(({ letters }) => letters);
  const writer = context.eventWriters.take();
  const candidates = await admit({ ...context, writer }, events, { turns, deadLetters });
  // Asked once: an account may leave its queue during the look-up, whose answers are only for the other accounts.
  const accountsApart = new Set(candidates.map(({ accepted }) => accepted.accountId).filter(isApart));
  const asked = candidates.filter(({ accepted }) => !accountsApart.has(accepted.accountId));
  const { outcomes: found, write } = await lookUp(context, touchesOf(asked));
  const answers = found.values();
  const outcomes = candidates.map(({ accepted }) =>
    accountsApart.has(accepted.accountId) ? undefined : answers.next().value,
  );
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
      consents: written.consents,
    },
    ...leftParts(context, { candidates: waiting, writer }, write, accountsApart),
  };
}

/** Admitted events; `writer` holds their JSON. */
type Admitted = { readonly candidates: readonly Candidate[]; readonly writer: ByteWriter };

const bytesOf = ({ start, end }: { readonly start: number; readonly end: number }): number => end - start;

const isKnown = (outcome: VisitorOutcome | undefined): outcome is VisitorOutcome => outcome !== undefined;

const touchesOf = (candidates: readonly Candidate[]): readonly VisitorTouch[] => candidates.map(({ touch }) => touch);

function leftParts(
  context: StepContext,
  { candidates, writer }: Admitted,
  firstTry: WriteVisitors | undefined,
  accountsApart: ReadonlySet<string>,
): Pick<LookedUpPart, 'left' | 'apart'> {
  let unwritten = candidates.length;
  const write = async (of: readonly Candidate[], outcomes: readonly VisitorOutcome[]): Promise<ResolvedPart> => {
    context.beginTurn();
    const turns = new Turns(() => context.beginTurn());
    const written = await writeLines(context, { candidates: of, writer }, outcomes, turns);
    unwritten -= of.length;
    if (unwritten === 0) context.eventWriters.giveBack(writer);
    return { part: { events: of.map(({ accepted }) => accepted), left: [] }, ...written };
  };
  const partOf = (of: readonly Candidate[], tried: WriteVisitors | undefined): LeftPart => ({
    accounts: new Set(of.map(({ accepted }) => accepted.accountId)),
    events: of.map(({ accepted }) => accepted),
    async resolve() {
      try {
        return await write(of, await identify(context, touchesOf(of), { firstTry: tried }));
      } catch (error) {
        if (!(error instanceof VisitorsFailedError)) throw error;
        context.counts.visitor_failures += 1;
        return undefined;
      }
    },
    byAccount: () => {
      const accounts = new Map<string, Candidate[]>();
      for (const candidate of of) {
        const { accountId } = candidate.accepted;
        const own = accounts.get(accountId);
        if (own === undefined) accounts.set(accountId, [candidate]);
        else own.push(candidate);
      }
      return [...accounts].map(([accountId, own]) => accountPart(accountId, own));
    },
  });
  const accountPart = (accountId: string, of: readonly Candidate[]): AccountPart => ({
    ...partOf(of, undefined),
    accountId,
    async resolveApart(turn) {
      let isWell = true;
      const watched: Turn = async (statement) => {
        try {
          return await turn(statement);
        } catch (error) {
          if (error instanceof VisitorsFailedError) isWell = false;
          throw error;
        }
      };
      const resolved = await write(of, await identify(context, touchesOf(of), { turn: watched }));
      return { resolved, isWell };
    },
  });
  const left = candidates.filter(({ accepted }) => !accountsApart.has(accepted.accountId));
  const apart = candidates.filter(({ accepted }) => accountsApart.has(accepted.accountId));
  return {
    left: left.length === 0 ? undefined : partOf(left, firstTry),
    apart: partOf(apart, undefined).byAccount(),
  };
}

/** Writes events with their visitors into frames of their accounts, in order: one outcome for each event. */
async function writeLines(
  context: StepContext,
  { candidates, writer }: Admitted,
  outcomes: readonly VisitorOutcome[],
  turns: Turns,
): Promise<Omit<ResolvedPart, 'part'>> {
  if (outcomes.length !== candidates.length) {
    throw new Error(`resolving a batch: ${candidates.length} events have ${outcomes.length} visitors`);
  }
  const { settings, connection, visitorLimit, costBudget, counts, logger } = context;
  const deadLetters: IngestDeadLetter[] = [];
  const consents: ConsentChange[] = [];
  const lineBytesMax = connection.messageBytesMax - messageOverheadBytes;
  const frameBytesMax = Math.min(settings.frameBytesMax, Math.floor(lineBytesMax / 2));
  const outgoing = new OutgoingFrames(
    { frameBytesMax, lineBytesMax, writesVisitorsOnce: settings.writesVisitorsOnce, compression: settings.compression },
    visitorLimit,
    context.frameWriters,
  );
  // A loop over `entries()` would make V8 of Node 20 allocate a pair of index and event each time.
  let index = -1;
  for (const candidate of candidates) {
    index += 1;
    const outcome = outcomes[index] as VisitorOutcome;
    if (outcome.kind === 'resolved') {
      consents.push(...context.withdrawals.changesOf(candidate, outcome));
      if (outcome.leftOut !== undefined) countLeftOut(context, candidate.touch, outcome.leftOut);
    }
    if (candidate.held !== undefined) {
      leave(counts, hold(candidate, candidate.held, outcome), deadLetters);
      continue;
    }
    visitorLimit.earn(candidate.touch.accountId, bytesOf(candidate.accepted));
    costBudget.recordActivity(candidate.touch.accountId);
    const json = writer.stretchOf(candidate.json);
    samplePersonalData(context.personalData, candidate.touch, json);
    const leaving = write(candidate, json, outcome, outgoing);
    if (leaving !== undefined) leave(counts, leaving, deadLetters);
    const over = turns.spend(eventUnits + bytesOf(candidate.json));
    if (over !== undefined) await over;
  }
  for (const [accountId, visitors] of outgoing.cutVisitors) {
    counts.visitors_cut += visitors;
    context.visitorsCut.add(accountId, visitors);
    if (visitorLimit.isNews(accountId))
      logger.warn({ accountId }, 'profiles of this account are cut short; see RESOLVER_VISITOR_SHARE');
  }
  return { frames: outgoing.finish(), deadLetters, consents };
}

/** Reads the events in order, and writes the part of the line for each event that is new and wanted. */
async function admit(
  context: StepContext & { readonly writer: ByteWriter },
  events: readonly WaitingEvent[],
  { turns, deadLetters }: { readonly turns: Turns; readonly deadLetters: IngestDeadLetter[] },
): Promise<readonly Candidate[]> {
  const candidates: Candidate[] = [];
  for (const event of events) {
    const { plan_units: unitsBefore } = context.counts;
    const step = admitEvent(context, event);
    if ('kind' in step) leave(context.counts, step, deadLetters);
    else candidates.push(step);
    const over = turns.spend(eventUnits + bytesOf(event) + context.counts.plan_units - unitsBefore);
    if (over !== undefined) await over;
  }
  return candidates;
}

type WriteVisitors = () => Promise<ResolvedVisitors>;

/** Looks up the visitors of some events, in order. If the database fails for one, all of them have to be written. */
async function lookUp(
  context: StepContext,
  touches: readonly VisitorTouch[],
): Promise<{ readonly outcomes: readonly (VisitorOutcome | undefined)[]; readonly write: WriteVisitors | undefined }> {
  if (touches.length === 0) return { outcomes: [], write: undefined };
  try {
    const found = await untilReached(context, () => context.visitors.lookUp(touches));
    return { outcomes: found.outcomes, write: () => found.write() };
  } catch (error) {
    if (!(error instanceof VisitorsRefusedError || error instanceof VisitorsFailedError)) throw error;
    return { outcomes: touches.map(() => undefined), write: undefined };
  }
}

/** Options for finding and writing visitors. */
type Identifying = {
  /** Used for the first try; it continues from an earlier look-up. */
  readonly firstTry?: WriteVisitors | undefined;
  /** Runs the statements that find the visitor for which the database fails. If undefined, the failure is thrown. */
  readonly turn?: Turn | undefined;
};

/** Maximum number of tries for a visitor for which the database fails; with pauses, since the failure may pass. */
const failedTriesMax = 4;
const failedBackoff: Backoff = { firstMs: 1_000, longestMs: 8_000 };

/**
 * Finds the visitors of some events, in order, and writes them. Waits while the database is unavailable. If it refuses
 * a value, the batch is halved until the event with that value is found: only this event becomes a dead letter.
 */
async function identify(
  context: StepContext,
  touches: readonly VisitorTouch[],
  { firstTry, turn }: Identifying,
): Promise<readonly VisitorOutcome[]> {
  const { counts, visitors } = context;
  if (touches.length === 0) return [];
  let next = firstTry;
  const tryOnce = (): Promise<ResolvedVisitors> => {
    const go = next ?? (() => visitors.resolve(touches));
    next = undefined;
    return turn === undefined ? go() : turn(go);
  };
  const isAlone = touches.length === 1 && turn !== undefined;
  try {
    const resolved = await untilReached(context, isAlone ? () => untilFailed(context, tryOnce) : tryOnce);
    counts.visitors_created += resolved.created;
    counts.visitors_updated += resolved.updated;
    counts.visitors_merged += resolved.merged;
    return resolved.outcomes;
  } catch (error) {
    const isFound =
      error instanceof VisitorsRefusedError || (error instanceof VisitorsFailedError && turn !== undefined);
    if (!isFound) throw error;
    if (touches.length === 1) return [{ kind: 'refused', reason: error.message }];
    const middle = Math.ceil(touches.length / 2);
    const first = await identify(context, touches.slice(0, middle), { turn });
    return [...first, ...(await identify(context, touches.slice(middle), { turn }))];
  }
}

function countLeftOut({ counts, visitorsFull, identity }: StepContext, touch: VisitorTouch, leftOut: LeftOut): void {
  const { accountId, event, receivedAtMs } = touch;
  const { oversized, keptApart, notOverwritten, full, overLimit } = leftOut;
  counts.visitors_oversized += oversized;
  counts.people_kept_apart += keptApart;
  counts.server_values_kept += notOverwritten;
  counts.visitors_full += full;
  counts.identifiers_over_limit += overLimit;
  if (full > 0) visitorsFull.add(accountId, full);
  for (const reason of Object.keys(leftOutReasons) as LeftOutReason[]) {
    identity.add({ accountId, sourceId: event?.sourceId ?? '', receivedAtMs, reason, count: leftOut[reason] });
  }
}

/** Tries the visitor of one event a few times. Tries that fail because of another transaction's lock do not count. */
function untilFailed<Result>({ counts, signal }: StepContext, ask: () => Promise<Result>): Promise<Result> {
  let tries = 0;
  return retry(ask, {
    signal,
    backoff: failedBackoff,
    isPassing: (error) => error instanceof VisitorsFailedError && (error.isHeld || (tries += 1) < failedTriesMax),
    onRetry: () => {
      counts.visitor_failures += 1;
    },
  });
}

/** Retries a query for visitors until the database answers. */
function untilReached<Result>({ counts, logger, signal }: StepContext, ask: () => Promise<Result>): Promise<Result> {
  return retry(ask, {
    signal,
    isPassing: (error) => error instanceof VisitorsUnavailableError,
    onRetry: (error, attempt) => {
      counts.visitor_retries += 1;
      if (isWorthTelling(attempt)) logger.warn({ err: error }, 'the visitor database cannot be reached; retrying');
    },
  });
}

/** Maximum bytes of a message besides its events: its headers, with the ids of one event. */
const messageOverheadBytes = 4_096;

/** How an event ends that is quarantined or dropped. */
function hold({ accepted }: Candidate, held: HeldEvent, visitor: VisitorOutcome): Leaving {
  if (visitor.kind === 'erased') return drops.erased;
  if (visitor.kind === 'refused' && held.leaving.kind !== 'drop') return letterOf(accepted, visitor.reason);
  held.show();
  return held.leaving;
}

/** Writes the line of an event with its visitor; or, if the event is not resolved, returns how it ends. */
function write(
  candidate: Candidate,
  json: Stretch,
  visitor: VisitorOutcome,
  outgoing: OutgoingFrames,
): Leaving | undefined {
  if (visitor.kind === 'erased') return drops.erased;
  if (visitor.kind === 'refused') return letterOf(candidate.accepted, visitor.reason);
  const { id, properties } = visitor;
  // The event was checked when it was read; its visitor, stored by an earlier build, may nest too deep.
  if (properties.nestDeeperThan(lineDepthMax - 1)) {
    return letterOf(candidate.accepted, `nests deeper than ${lineDepthMax} levels once its visitor is added`);
  }
  const { hash, unreleased, sentBytes, touch } = candidate;
  const { accountId } = touch;
  const isAdded = outgoing.add({ accountId, hash, unreleased, json, sentBytes, visitorId: id, properties });
  return isAdded ? undefined : letterOf(candidate.accepted, 'too large together with its visitor');
}
