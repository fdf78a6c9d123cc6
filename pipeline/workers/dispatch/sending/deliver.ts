import type { OutboundEvent, OutboundRequest, Outcome } from '../../../../shared/destinations/sdk/destination.ts';
import { UnfitEventError } from '../../../../shared/destinations/sdk/destination.ts';
import type { OfferedDestination } from '../../../../shared/destinations/common-settings.ts';
import { outboundHead } from '../../../../shared/destinations/sdk/event.ts';
import type { RequestSummary } from '../../../../shared/contracts/events/dead-letter.ts';
import { classifyAnswer } from '../../../../shared/egress/classify-answer.ts';
import type { SendFailure, SendResult, Sender } from '../../../../shared/egress/sender.ts';
import { parseUrl } from '../../../../shared/egress/sender.ts';

/** What became of one event in one attempt. */
export type Attempt = {
  readonly outcome: Outcome;
  readonly request?: RequestSummary;
  /** Why a request has no answer. */
  readonly failure?: SendFailure;
};

/**
 * The attempts, one an event in order, and what the requests say about the destination itself. None for an event that was
 * not sent, since an earlier one of its visitor failed in the same go and is to be sent again.
 */
export type Delivered = {
  readonly attempts: readonly (Attempt | undefined)[];
  readonly requests: number;
  /** It answers, whatever it says of the events. */
  readonly isUp: boolean;
  /** It is asked more than it can take. */
  readonly isOverloaded: boolean;
};

/** Answers that may be the fault of one event among many. */
const perhapsOneEvent: ReadonlySet<number> = new Set([400, 413, 422]);

/**
 * Sends events in one request; in one a group, one after the other, should they be of several: those held while a new
 * version changed the groups. Where the platform refuses a whole request for what may be one event in it, the halves are
 * tried by themselves, so that only the events at fault are refused. With order `visitor` what follows a failed event of
 * the same visitor in a later one of these requests is not sent.
 */
export function deliver(
  prepared: OfferedDestination,
  sender: Sender,
  events: readonly OutboundEvent[],
): Promise<Delivered> {
  const groupOf = prepared.groupOf?.bind(prepared);
  if (groupOf === undefined || events.length < 2) return deliverGroup(prepared, sender, events);
  return deliverInTurn(prepared, sender, events, splitGroups(groupOf, events));
}

/** Sends parts of a batch, given as indexes, one after the other. */
async function deliverInTurn(
  prepared: OfferedDestination,
  sender: Sender,
  events: readonly OutboundEvent[],
  parts: readonly (readonly number[])[],
): Promise<Delivered> {
  const attempts: (Attempt | undefined)[] = events.map(() => undefined);
  const waiting = new Set<string>();
  let said: Said = { requests: 0, isUp: true, isOverloaded: false };
  const visitorAt = (index: number): string => {
    const event = events[index];
    return event === undefined ? '' : outboundHead(event).visitorId;
  };
  for (const part of parts) {
    const indexes = waiting.size === 0 ? part : part.filter((index) => !waiting.has(visitorAt(index)));
    if (indexes.length === 0) continue;
    const group = indexes.flatMap((index) => events[index] ?? []);
    const delivered = await deliverGroup(prepared, sender, group);
    for (const [i, index] of indexes.entries()) {
      const attempt = delivered.attempts[i];
      attempts[index] = attempt;
      const isWaiting = attempt === undefined || attempt.outcome.kind === 'retry';
      if (isWaiting && prepared.order === 'visitor') waiting.add(visitorAt(index));
    }
    said = both(said, delivered);
  }
  return { attempts, ...said };
}

/** Sends events of one group. One promise more than the sender's own: nearly every request needs no other. */
function deliverGroup(
  prepared: OfferedDestination,
  sender: Sender,
  events: readonly OutboundEvent[],
): Promise<Delivered> {
  const request = build(prepared, events);
  if (typeof request !== 'string') {
    return sender.send(request).then((result) => readResult(prepared, sender, events, request, result));
  }
  if (events.length > 1) return deliverHalves(prepared, sender, events);
  const attempts = [{ outcome: { kind: 'reject', reason: request } as const }];
  return Promise.resolve({ attempts, requests: 0, isUp: true, isOverloaded: false });
}

/** What the answer means for each event; where it tells too little, what the halves come to. */
function readResult(
  prepared: OfferedDestination,
  sender: Sender,
  events: readonly OutboundEvent[],
  request: OutboundRequest,
  result: SendResult,
): Delivered | Promise<Delivered> {
  const host = parseUrl(request.url)?.host ?? '';
  if (result.kind === 'failed') {
    const { reason, permanent, failure } = result;
    const attempt: Attempt = {
      outcome: { kind: permanent ? 'reject' : 'retry', reason },
      request: { method: request.method, host },
      failure,
    };
    const isOverloaded = failure === 'timeout';
    return { attempts: events.map(() => attempt), requests: 1, isUp: permanent, isOverloaded };
  }
  const { answer } = result;
  const whole = classifyAnswer(answer, Date.now());
  const summary = { method: request.method, host, status: answer.status };
  const isOverloaded = answer.status === 429;
  const said = { requests: 1, isUp: whole.kind !== 'retry', isOverloaded };
  const rows = prepared.readAnswer?.(answer, events);
  if (rows?.length === events.length) {
    const attempts = rows.map((outcome) => ({ outcome, request: summary }));
    // Some platforms say that they take nothing for now, or less, with a 400 or a 200, or row by row.
    const isUp = said.isUp && rows.some(({ kind }) => kind !== 'retry');
    const isThrottled = rows.some((outcome) => outcome.kind === 'retry' && outcome.isThrottled === true);
    return { attempts, ...said, isUp, isOverloaded: isOverloaded || isThrottled };
  }
  if (whole.kind === 'reject' && events.length > 1 && perhapsOneEvent.has(answer.status)) {
    return deliverHalves(prepared, sender, events);
  }
  const attempt = { outcome: whole, request: summary };
  return { attempts: events.map(() => attempt), ...said };
}

function deliverHalves(
  prepared: OfferedDestination,
  sender: Sender,
  events: readonly OutboundEvent[],
): Promise<Delivered> {
  const indexes = [...events.keys()];
  const middle = Math.ceil(events.length / 2);
  return deliverInTurn(prepared, sender, events, [indexes.slice(0, middle), indexes.slice(middle)]);
}

type Said = Omit<Delivered, 'attempts'>;

function both(first: Said, second: Said): Said {
  return {
    requests: first.requests + second.requests,
    isUp: first.isUp && second.isUp,
    isOverloaded: first.isOverloaded || second.isOverloaded,
  };
}

/** The request, or why there can be none: a payload a kind cannot make a request of is a fault of that event alone. */
function build(prepared: OfferedDestination, events: readonly OutboundEvent[]): OutboundRequest | string {
  try {
    const request = prepared.buildRequest(events, Date.now());
    return parseUrl(request.url) !== undefined ? request : 'the request has no usable URL';
  } catch (error) {
    if (error instanceof UnfitEventError) return error.message;
    return `building the request: ${error instanceof Error ? error.name : 'failed'}`;
  }
}

/**
 * Cuts a batch into the requests it takes, each as indexes into `events`: one group a request, as few requests as keep
 * the events of every visitor in order when the requests are sent one after the other.
 */
export function splitGroups(
  groupOf: (event: OutboundEvent) => string,
  events: readonly OutboundEvent[],
): readonly (readonly number[])[] {
  const requests: number[][] = [];
  /** The last request of each group, and the last one that holds an event of each visitor. */
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
