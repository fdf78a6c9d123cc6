import { UnfitEventError } from '../../../../shared/destinations/sdk/destination.ts';
import type { OfferedDestination } from '../../../../shared/destinations/common-settings.ts';
import { acceptsAll, isFailure, jsonAnswer } from '../../../../shared/destinations/sdk/answers.ts';
import type {
  OutboundAnswer,
  OutboundEvent,
  OutboundRequest,
  Outcome,
} from '../../../../shared/destinations/sdk/destination.ts';
import { outboundHead } from '../../../../shared/destinations/sdk/event.ts';
import type { RequestSummary } from '../../../../shared/contracts/events/dead-letter.ts';
import { classifyAnswer } from '../../../../shared/egress/classify-answer.ts';
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
 * The attempts, in the order of the events, and the state of the destination that the requests showed. An event without
 * an attempt was not sent: an earlier event of its visitor failed in the same batch and will be retried, or the batch
 * was no longer live.
 */
export type Delivered = {
  readonly attempts: readonly (Attempt | undefined)[];
  readonly requests: number;
  /** Whether the destination is up: it accepted events, or refused them for good. */
  readonly isUp: boolean;
  /** Whether the destination refused requests for their number, or did not answer in time. */
  readonly isOverloaded: boolean;
  /** Whether the destination refused its key or token. */
  readonly isAccessRefused: boolean;
};

/** Statuses that one event among many may cause. */
const perhapsOneEvent: ReadonlySet<number> = new Set([400, 413, 422]);
/** With more events than this in a refused request, a few are tried alone before the halves. */
const searchedAtOnceMax = 8;
/** Number of single events tried. */
const samples = 3;

/**
 * Sends events in one request, or in one request per group, one after the other. If the platform refuses a request,
 * and one of its events may be the cause, the halves are tried separately, so that only events at fault are refused:
 * if all n events are at fault, this takes 2n - 1 requests. Before a search among many events, a few are tried alone:
 * if the platform gives each of them the same answer as the whole request, the events are not at fault, and all get
 * that outcome. With order `visitor`, later events of a visitor whose event failed are not sent. `isLive` is called
 * before each request: once it returns false, no more are sent.
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

/** Parts of a batch, as indexes; parts that depend on earlier results are made when needed. */
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
  return { attempts, ...said };
}

/** Sends events of one group. A single request, as nearly all are, costs one promise in addition to the sender's. */
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

/** The outcome of each event by the answer; if the answer leaves it open, the results of the halves. */
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
    const isOverloaded = failure === 'timeout';
    const said = { requests, isUp: permanent, isOverloaded, isAccessRefused };
    return { attempts: events.map(() => attempt), ...said };
  }
  const { answer } = result;
  const whole = classifyAnswer(answer, Date.now());
  const summary = { method: request.method, host, status: answer.status };
  const isOverloaded = answer.status === 429;
  const said = { requests, isUp: whole.kind !== 'retry', isOverloaded, isAccessRefused: refusesAccess(whole) };
  const rows = delivering.prepared.readAnswer?.(answer, events);
  if (rows?.length === events.length) {
    const exchange = rows.some(isFailure) ? failedExchange(delivering.prepared, request, events, answer) : undefined;
    const attempts = rows.map((outcome) => ({ outcome, request: summary, ...(isFailure(outcome) && { exchange }) }));
    search.hasTaken ||= rows.some(({ kind }) => kind === 'delivered' || kind === 'dropped');
    // Some platforms report with a 200 or a 400, or row by row, that for now they accept nothing, or less.
    const isUp = said.isUp && rows.some(({ kind }) => kind !== 'retry');
    const isThrottled = rows.some((outcome) => outcome.kind === 'retry' && outcome.isThrottled === true);
    const isAccessRefused = !isUp && rows.some(refusesAccess);
    return { attempts, ...said, isUp, isOverloaded: isOverloaded || isThrottled, isAccessRefused };
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

const refusesAccess = (outcome: Outcome): boolean => outcome.kind === 'retry' && outcome.refusesAccess === true;

/** Finds the events at fault in a refused request. All of them made it too large (413), so none is then tried alone. */
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

/** The first, the middle and the last event without an earlier event of its visitor. */
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

/** An answer without its varying parts, such as the id of a request: its status, and its error codes, if any. */
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

/** The request, or why there is none: if a kind cannot build a request from an event, only that event is at fault. */
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
 * Divides a batch into requests, each as indexes into `events`: one group per request, and as few requests as keep the
 * events of every visitor in order when they are sent one after the other.
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
