import { endHead } from '../../shared/contracts/events/envelope.ts';
import type { EnvelopeKind } from '../../shared/contracts/events/envelope.ts';
import type { EventIdentity } from '../../shared/contracts/events/partition.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { EventSlice } from '../commit/frame.ts';
import type { Exchange, StoredAnswers } from '../http/exchange.ts';
import { invalid, problemOf } from '../http/reply.ts';
import { readJson } from '../payload/read-json.ts';
import type { JsonLimits } from '../payload/read-json.ts';
import { readPlainTrack } from '../payload/read-plain-track.ts';
import { PlainEvent, BodyScan } from '../payload/scan-body.ts';
import { describeProblem } from '../payload/describe-problem.ts';
import { identifyPayload, trackPayload } from '../payload/payloads.ts';
import { isWithinWindow } from '../payload/time-window.ts';
import type { TimeWindow } from '../payload/time-window.ts';
import type { TrackPayload } from '../payload/payloads.ts';
import { Admitted } from './admission.ts';
import type { Admission } from './admission.ts';
import { blankToken } from './blank-token.ts';
import { encodeMade, outsideWindow } from './encode-made.ts';
import type { MadeLimits } from './encode-made.ts';
import type { Intake } from './intake.ts';
import { countInvalid } from './published-sources.ts';
import type { PublishedSource } from './published-sources.ts';
import { RememberedRequests } from './remembered-requests.ts';
import type { RememberedRequest } from './remembered-requests.ts';

export type EventLimits = JsonLimits & { readonly timeWindow: TimeWindow };

/** Accepts requests with one event, from any route. */
export class SingleEvent {
  readonly #admission: Admission;
  readonly #intake: Intake;
  readonly #limits: EventLimits & MadeLimits;
  readonly #requests = new RememberedRequests();
  // One request is handled at a time, so one scan serves all.
  readonly #scan = new BodyScan();
  readonly #plain = new PlainEvent();

  constructor(admission: Admission, intake: Intake, limits: EventLimits & MadeLimits) {
    this.#admission = admission;
    this.#intake = intake;
    this.#limits = limits;
  }

  /** Accepts a body that is a track payload. */
  track(exchange: Exchange, body: Buffer): void {
    const plain = readPlainTrack(this.#plain, this.#scan.facts, body, this.#limits);
    if (plain === undefined) return this.#parseTrack(exchange, body);
    const admitted = this.#admission.admitToken(exchange, plain.token);
    if (!(admitted instanceof Admitted)) return exchange.send(admitted);
    if (!this.#isTimely(exchange, admitted, plain)) return;
    blankToken(body, plain.tokenStart, plain.tokenEnd, plain.token);
    this.#storeTrack(exchange, admitted, plain, body);
  }

  /** Accepts a body that is an identify payload. */
  identify(exchange: Exchange, body: Buffer): void {
    const payload = this.#read(exchange, body);
    if (payload === undefined) return;
    const admitted = this.#admission.admitToken(exchange, payload['token']);
    if (!(admitted instanceof Admitted)) return exchange.send(admitted);
    const { source, atMs } = admitted;
    if (!identifyPayload.Check(payload)) return refuse(exchange, source, describeProblem(identifyPayload, payload));
    blankToken(body, this.#scan.tokenStart, this.#scan.tokenEnd, payload.token);
    const request = this.#remembered(exchange, admitted, 'identify', body);
    exchange.answerWhenStored(source.tally, undefined, request);
    const id = request?.id ?? this.#intake.newEventId(atMs);
    this.#store(exchange, admitted, new OneEvent('identify', id, payload), body);
  }

  /**
   * Accepts a track payload that the route made. Its token is `blank`, as keys must not be stored, and so is `key`, the
   * one in the request's address, wherever the payload repeats it. `answers`: the route's own, if any.
   */
  made(exchange: Exchange, admitted: Admitted, payload: TrackPayload, key: string, answers?: StoredAnswers): void {
    const body = encodeMade({ kind: 'track', payload }, key, admitted.atMs, this.#limits);
    if (Buffer.isBuffer(body)) return this.#storeTrack(exchange, admitted, payload, body, answers);
    countInvalid(admitted.source.tally, problemOf(body));
    exchange.send(answers?.refused ?? body);
  }

  /** Accepts or refuses a track that is not plain: it has to be parsed, and may be invalid. */
  #parseTrack(exchange: Exchange, body: Buffer): void {
    const payload = this.#read(exchange, body);
    if (payload === undefined) return;
    const admitted = this.#admission.admitToken(exchange, payload['token']);
    if (!(admitted instanceof Admitted)) return exchange.send(admitted);
    const { source } = admitted;
    if (!trackPayload.Check(payload)) return refuse(exchange, source, describeProblem(trackPayload, payload));
    if (!this.#isTimely(exchange, admitted, payload)) return;
    blankToken(body, this.#scan.tokenStart, this.#scan.tokenEnd, payload.token);
    this.#storeTrack(exchange, admitted, payload, body);
  }

  #read(exchange: Exchange, body: Buffer): JsonObject | undefined {
    const read = readJson(this.#scan, body, this.#limits);
    if (read.refusal === undefined) return read.value;
    exchange.send(read.refusal);
    return undefined;
  }

  #isTimely(
    exchange: Exchange,
    { source, atMs }: Admitted,
    { time }: { readonly time?: number | null | undefined },
  ): boolean {
    if (isWithinWindow(time, atMs, this.#limits.timeWindow)) return true;
    countInvalid(source.tally, problemOf(outsideWindow));
    exchange.send(outsideWindow);
    return false;
  }

  #storeTrack(
    exchange: Exchange,
    admitted: Admitted,
    payload: EventIdentity & { readonly distinctId?: string | null | undefined },
    body: Buffer,
    answers?: StoredAnswers,
  ): void {
    const own = payload.distinctId ?? undefined;
    const request = own === undefined ? this.#remembered(exchange, admitted, 'track', body) : undefined;
    const id = own ?? request?.id ?? this.#intake.newEventId(admitted.atMs);
    exchange.answerWhenStored(admitted.source.tally, answers, request);
    this.#store(exchange, admitted, new OneEvent('track', id, payload), body);
  }

  /** The remembered request, for libraries that count their tries; undefined for nearly all requests. */
  #remembered(
    { head: { retryCount } }: Exchange,
    { source, atMs }: Admitted,
    kind: EnvelopeKind,
    body: Buffer,
  ): RememberedRequest | undefined {
    if (retryCount === '') return undefined;
    const newId = (): string => this.#intake.newEventId(atMs);
    return this.#requests.eventOf(`${kind} ${source.sourceId}`, body, retryCount, { ms: atMs, newId });
  }

  #store(exchange: Exchange, admitted: Admitted, event: OneEvent, body: Buffer): void {
    const { source } = admitted;
    // The route's own answer, as for an event that the log refuses.
    if (!this.#intake.hasRoom(1, body.length, source.accountId)) return exchange.frameDecided('stalled');
    const slice = new EventSlice(body, source.accountId);
    event.bot = this.#intake.botScoreOf(exchange, source, slice);
    const head = endHead(this.#intake.startOf(exchange, admitted), event);
    this.#intake.append(this.#intake.partitionOf(source, event), head, slice, exchange, 0);
  }
}

/** The event's part of the envelope, with its identity. */
class OneEvent {
  readonly kind: EnvelopeKind;
  readonly id: string;
  readonly identity: EventIdentity;
  bot: number | undefined = undefined;

  constructor(kind: EnvelopeKind, id: string, identity: EventIdentity) {
    this.kind = kind;
    this.id = id;
    this.identity = identity;
  }
}

function refuse(exchange: Exchange, source: PublishedSource, problem: string): void {
  countInvalid(source.tally, problem);
  exchange.send(invalid(problem));
}
