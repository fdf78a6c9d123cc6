import { UnfitEventError } from '../../../../shared/destinations/sdk/destination.ts';
import type { OfferedDestination } from '../../../../shared/destinations/common-settings.ts';
import { acceptsAll, isFailure, jsonAnswer, readAnswer } from '../../../../shared/destinations/sdk/answers.ts';
import type {
  OutboundAnswer,
  OutboundEvent,
  OutboundRequest,
  Outcome,
} from '../../../../shared/destinations/sdk/destination.ts';
import { outboundHead } from '../../../../shared/destinations/sdk/event.ts';
import type { RequestSummary } from '../../../../shared/contracts/events/dead-letter.ts';
import { classifyAnswer } from '../../../../shared/egress/classify-answer.ts';
import type { Unnamed } from '../../../../shared/egress/outcome.ts';
import { parseUrl } from '../../../../shared/egress/sender.ts';
import { sendInTurn } from '../../../../shared/egress/send-in-turn.ts';
import type { SentInTurn } from '../../../../shared/egress/send-in-turn.ts';
import type { SendFailure, Sender } from '../../../../shared/egress/sender.ts';
import { OverBudgetError } from '../../../../shared/routing/values/work.ts';
import { textForm } from '../../../../shared/routing/values/value-forms.ts';
import { isJsonObject } from '../../../../shared/runtime/json.ts';
import { failedExchange } from './failed-exchange.ts';
import type { FailedExchange } from './failed-exchange.ts';

/** The result of one attempt for one event. */
export type Attempt = {
  readonly outcome: Outcome;
  readonly request?: RequestSummary;
  /** Why a request has no answer. */
  readonly failure?: Exclude<SendFailure, 'withdrawn'>;
  /** Request and answer of a failed attempt. */
  readonly exchange?: FailedExchange | undefined;
};

/**
 * The attempts, in the order of the events, and what the requests showed about the destination. An event without an
 * attempt was not sent: an earlier event of its visitor failed in the same batch and will be retried, or the batch was
 * no longer live.
 */
export type Delivered = {
  readonly attempts: readonly (Attempt | undefined)[];
  readonly requests: number;
  /** Whether the destination is up: it accepted events, or refused them permanently. */
  readonly isUp: boolean;
  /** Whether the destination refused requests because there were too many, or did not answer in time. */
  readonly isOverloaded: boolean;
  /** Whether the destination refused its key or token, and accepted no event. */
  readonly isAccessRefused: boolean;
};

/** Statuses with which a platform may refuse a whole request because of one event. */
const perhapsOneEvent: ReadonlySet<number> = new Set([400, 413, 422]);
/** If a refused request has more events than this, a few events are tried alone before its halves. */
const searchedAtOnceMax = 8;
/** Number of single events that are tried first. */
const samples = 3;

/**
 * Sends events in one request, or in one request per group, one after the other. If the platform refuses a request, and
 * one of its events may be the cause, the halves are sent separately, so that only events at fault are refused: if all
 * n events are at fault, this takes 2n - 1 requests. Before such a search among many events, a few events are sent
 * alone: if the platform answers each of them as it answered the whole request, no single event is at fault, and all
 * events get that outcome. With order `visitor`, later events of a visitor whose event failed are not sent. `isLive` is
 * called before each request: once it returns false, no more requests are sent.
 */
export function deliver(
  prepared: OfferedDestination,
  sender: Sender,
  events: readonly OutboundEvent[],
  isLive: () => boolean = () => true,
): Promise<Delivered> {
  const delivering = { prepared, sender, isLive };
  const groupOf = prepared.groupOf?.bind(prepared);
  if (groupOf === undefined || events.length < 2) return deliverGroup(delivering, events, newSearch());
  return deliverInTurn(delivering, events, splitGroups(groupOf, events));
}

/** The parameters of a batch's delivery. */
type Delivering = {
  readonly prepared: OfferedDestination;
  readonly sender: Sender;
  readonly isLive: () => boolean;
};

/** The state of the search for the events at fault in a refused request. */
type Search = {
  /** Whether the destination accepted an event: then the events that it refuses are at fault themselves. */
  hasTaken: boolean;
  /** The last refusal of a single event, as `lookOf` describes it. */
  refusal: string | undefined;
};

const newSearch = (): Search => ({ hasTaken: false, refusal: undefined });

/**
 * Parts of a batch, as indexes of its events. Parts that depend on earlier results are generated when they are needed.
 */
type Parts = readonly (readonly number[])[] | ((attempts: (Attempt | undefined)[]) => Generator<readonly number[]>);

/** Sends parts of a batch one after the other. */
async function deliverInTurn(
  delivering: Delivering,
  events: readonly OutboundEvent[],
  parts: Parts,
  search?: Search,
): Promise<Delivered> {
  const attempts: (Attempt | undefined)[] = events.map(() => undefined);
  const waiting = new Set<string>();
  let said: Said = { requests: 0, isUp: true, isOverloaded: false, isAccessRefused: false };
  const visitorAt = (index: number): string => {
    const event = events[index];
    return event === undefined ? '' : outboundHead(event).visitorId;
  };
  for (const part of typeof parts === 'function' ? parts(attempts) : parts) {
    const indexes = waiting.size === 0 ? part : part.filter((index) => !waiting.has(visitorAt(index)));
    if (indexes.length === 0) continue;
    if (!delivering.isLive()) break;
    const group = indexes.flatMap((index) => events[index] ?? []);
    const delivered = await deliverGroup(delivering, group, search ?? newSearch());
    for (const [i, index] of indexes.entries()) {
      const attempt = delivered.attempts[i];
      attempts[index] = attempt;
      const isWaiting = attempt === undefined || attempt.outcome.kind === 'retry';
      if (isWaiting && delivering.prepared.order === 'visitor') waiting.add(visitorAt(index));
    }
    said = both(said, delivered);
  }
  if (!said.isAccessRefused || !attempts.some(isTaken)) return { attempts, ...said };
  // The key is valid for other events of the batch, so the refusal is about a group of events, such as one pixel's.
  const isUp = attempts.every((attempt) => attempt?.outcome.kind !== 'retry' || refusesAccess(attempt.outcome));
  return { attempts, ...said, isUp, isAccessRefused: false };
}

const isTaken = (attempt: Attempt | undefined): boolean =>
  attempt?.outcome.kind === 'delivered' || attempt?.outcome.kind === 'dropped';

/**
 * Sends events of one group. A single request, which is the usual case, costs one promise in addition to the sender's.
 */
function deliverGroup(delivering: Delivering, events: readonly OutboundEvent[], search: Search): Promise<Delivered> {
  const { prepared, sender, isLive } = delivering;
  const request = build(prepared, events);
  if (typeof request !== 'string') {
    const sent =
      request.next === undefined && request.nextOf === undefined
        ? sender.send(request, isLive).then((result) => ({ request, result, requests: 1 }))
        : sendInTurn(sender, request, acceptsAll(prepared, events), isLive);
    return sent.then((result) => readResult(delivering, events, result, search));
  }
  if (events.length > 1) return deliverInTurn(delivering, events, halves([...events.keys()]), search);
  const attempts = [{ outcome: { kind: 'reject', reason: request } as const }];
  return Promise.resolve({ attempts, requests: 0, isUp: true, isOverloaded: false, isAccessRefused: false });
}

/**
 * Reads the outcome of each event from the answer; if the answer does not tell which events are at fault, sends parts
 * of the batch.
 */
function readResult(
  delivering: Delivering,
  events: readonly OutboundEvent[],
  { request, result, requests }: SentInTurn,
  search: Search,
): Delivered | Promise<Delivered> {
  const host = parseUrl(request.url)?.host ?? '';
  if (result.kind === 'failed') {
    const { reason, permanent, failure } = result;
    if (failure === 'withdrawn') {
      const attempts = events.map(() => undefined);
      return { attempts, requests: requests - 1, isUp: true, isOverloaded: false, isAccessRefused: false };
    }
    const isAccessRefused = result.refusesAccess === true;
    const attempt: Attempt = {
      outcome: permanent
        ? { kind: 'reject', reason }
        : { kind: 'retry', reason, ...(isAccessRefused ? { refusesAccess: true } : {}) },
      request: { method: request.method, host },
      failure,
      exchange: failedExchange(delivering.prepared, request, events),
    };
    const said = { requests, isUp: permanent, isOverloaded: failure === 'timeout', isAccessRefused };
    return { attempts: events.map(() => attempt), ...said };
  }
  const { answer } = result;
  const whole = classifyAnswer(answer, Date.now());
  const summary = { method: request.method, host, status: answer.status };
  const isOverloaded = answer.status === 429;
  const said = { requests, isUp: whole.kind !== 'retry', isOverloaded, isAccessRefused: refusesAccess(whole) };
  const rows = readAnswer(delivering.prepared, answer, events);
  if (rows?.length === events.length) {
    const unnamed = rows.filter((outcome) => unnamedIn(outcome) !== undefined).length;
    if (unnamed === rows.length) {
      search.hasTaken ||= rows.some((outcome) => unnamedIn(outcome) === 'some');
      if (events.length > 1) return searchCulprits(delivering, events, answer, search);
      search.refusal = lookOf(answer);
    }
    const exchange = rows.some(isFailure) ? failedExchange(delivering.prepared, request, events, answer) : undefined;
    const attempts = rows.map((outcome) => ({ outcome, request: summary, ...(isFailure(outcome) && { exchange }) }));
    search.hasTaken ||= attempts.some(isTaken);
    if (unnamed > 0 && unnamed < rows.length) return sendUnnamed(delivering, events, attempts, search);
    // In a 200 or a 400, or row by row, some platforms report that they temporarily accept nothing, or accept less.
    const isUp = said.isUp && rows.some(({ kind }) => kind !== 'retry');
    const isThrottled = rows.some((outcome) => outcome.kind === 'retry' && outcome.isThrottled === true);
    const isAccessRefused = !isUp && rows.some(refusesAccess);
    return { attempts, ...said, isUp, isOverloaded: isThrottled, isAccessRefused };
  }
  if (whole.kind === 'reject' && events.length > 1 && perhapsOneEvent.has(answer.status)) {
    return searchCulprits(delivering, events, answer, search);
  }
  search.hasTaken ||= whole.kind === 'delivered';
  if (whole.kind === 'reject' && events.length === 1) search.refusal = lookOf(answer);
  const attempt = {
    outcome: whole,
    request: summary,
    ...(isFailure(whole) && { exchange: failedExchange(delivering.prepared, request, events, answer) }),
  };
  return { attempts: events.map(() => attempt), ...said };
}

const unnamedIn = (outcome: Outcome): Unnamed | undefined => ('unnamed' in outcome ? outcome.unnamed : undefined);

const refusesAccess = (outcome: Outcome): boolean => outcome.kind === 'retry' && outcome.refusesAccess === true;

/**
 * Sends the events again that an answer does not name; the named ones keep their attempts. If the destination keeps
 * order, an event after a named one of its visitor waits.
 */
async function sendUnnamed(
  delivering: Delivering,
  events: readonly OutboundEvent[],
  answered: readonly Attempt[],
  search: Search,
): Promise<Delivered> {
  const parts = function* (attempts: (Attempt | undefined)[]): Generator<readonly number[]> {
    const waiting = new Set<string>();
    const unnamed: number[] = [];
    for (const [index, attempt] of answered.entries()) {
      const event = events[index];
      const visitorId = event === undefined ? '' : outboundHead(event).visitorId;
      if (unnamedIn(attempt.outcome) === undefined) {
        attempts[index] = attempt;
        if (attempt.outcome.kind === 'retry' && delivering.prepared.order === 'visitor') waiting.add(visitorId);
      } else if (!waiting.has(visitorId)) unnamed.push(index);
    }
    yield unnamed;
  };
  const found = await deliverInTurn(delivering, events, parts, search);
  return { ...found, requests: found.requests + 1 };
}

/**
 * Finds the events at fault in a refused request. After a 413 no event is tried alone first, since all events together
 * made the request too large.
 */
async function searchCulprits(
  delivering: Delivering,
  events: readonly OutboundEvent[],
  answer: OutboundAnswer,
  search: Search,
): Promise<Delivered> {
  const indexes = [...events.keys()];
  const tried = answer.status === 413 || events.length <= searchedAtOnceMax ? [] : sampleOf(events);
  const isSampled = tried.length === samples && !search.hasTaken;
  const look = lookOf(answer);
  const parts = function* (attempts: (Attempt | undefined)[]): Generator<readonly number[]> {
    for (const index of tried) {
      search.refusal = undefined;
      yield [index];
      if (search.refusal === look) continue;
      yield* halves(indexes.filter((other) => attempts[other] === undefined));
      return;
    }
    const alike = attempts[tried[0] ?? 0];
    for (const index of indexes) attempts[index] ??= alike;
  };
  const found = await deliverInTurn(delivering, events, isSampled ? parts : halves(indexes), search);
  return { ...found, requests: found.requests + 1 };
}

function halves(indexes: readonly number[]): readonly (readonly number[])[] {
  const middle = Math.ceil(indexes.length / 2);
  return [indexes.slice(0, middle), indexes.slice(middle)];
}

/**
 * Chooses the events to try alone: the first, the middle and the last of those that have no earlier event of their
 * visitor in the batch.
 */
function sampleOf(events: readonly OutboundEvent[]): readonly number[] {
  const seen = new Set<string>();
  const firsts = events.flatMap((event, index) => {
    const { visitorId } = outboundHead(event);
    if (seen.has(visitorId)) return [];
    seen.add(visitorId);
    return [index];
  });
  const places = Array.from({ length: samples }, (_, i) => Math.round((i * (firsts.length - 1)) / (samples - 1)));
  return [...new Set(places)].flatMap((place) => firsts[place] ?? []);
}

const codeNames = ['code', 'error_code', 'errorCode', 'error_subcode', 'type', 'status', '__type', 'category'] as const;

/**
 * What identifies an answer, without varying parts such as the id of a request: its status and its error codes, or its
 * body if it has no codes.
 */
function lookOf(answer: OutboundAnswer): string {
  const body = jsonAnswer(answer);
  const error = body?.['error'];
  const codes = [body, error].flatMap((from) =>
    isJsonObject(from) ? codeNames.map((name) => `${name}=${textForm(from[name]) ?? ''}`) : [],
  );
  const isCoded = codes.some((code) => !code.endsWith('='));
  return `${answer.status} ${isCoded ? codes.join() : answer.body}`;
}

type Said = Omit<Delivered, 'attempts'>;

function both(first: Said, second: Said): Said {
  return {
    requests: first.requests + second.requests,
    isUp: first.isUp && second.isUp,
    isOverloaded: first.isOverloaded || second.isOverloaded,
    isAccessRefused: first.isAccessRefused || second.isAccessRefused,
  };
}

/**
 * Builds the request; returns the reason as text if that fails. If a kind cannot build a request from an event, only
 * that event is at fault.
 */
function build(prepared: OfferedDestination, events: readonly OutboundEvent[]): OutboundRequest | string {
  try {
    const request = prepared.buildRequest(events, Date.now());
    return parseUrl(request.url) !== undefined ? request : 'the request has no usable URL';
  } catch (error) {
    if (error instanceof UnfitEventError || error instanceof OverBudgetError) return error.message;
    return `building the request: ${error instanceof Error ? error.name : 'failed'}`;
  }
}

/**
 * Divides a batch into requests, each a list of indexes into `events`. Each request contains one group, and there are
 * as few requests as possible if they are sent one after the other and keep the events of every visitor in order.
 */
export function splitGroups(
  groupOf: (event: OutboundEvent) => string,
  events: readonly OutboundEvent[],
): readonly (readonly number[])[] {
  const requests: number[][] = [];
  /** For each group, its last request; for each visitor, the last request that holds one of its events. */
  const lastOfGroup = new Map<string, number>();
  const lastOfVisitor = new Map<string, number>();
  for (const [index, event] of events.entries()) {
    const group = groupOf(event);
    const visitorId = outboundHead(event).visitorId;
    const open: number = lastOfGroup.get(group) ?? -1;
    const isInOrder = open >= (lastOfVisitor.get(visitorId) ?? 0);
    const request: number = isInOrder ? open : requests.push([]) - 1;
    requests[request]?.push(index);
    lastOfGroup.set(group, request);
    lastOfVisitor.set(visitorId, request);
  }
  return requests;
}
