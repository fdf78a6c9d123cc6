import { describeProblem } from '../payload/describe-problem.ts';
import { identifyPayload } from '../payload/identify-payload.ts';
import { PlainEvent, BodyScan, scanBody } from '../json/scan-body.ts';
import { isWithinWindow } from '../payload/time-window.ts';
import { trackPayload } from '../payload/track-payload.ts';
import type { TrackPayload } from '../payload/track-payload.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { PublishedSource } from './published-source.ts';
import type { Exchange } from '../http/exchange.ts';
import { invalid, unavailable } from '../http/reply.ts';
import { blankToken } from './blank-token.ts';
import type { Identity, Intake } from './intake.ts';
import type { JsonLimits } from '../json/read-json.ts';
import { readJson } from '../json/read-json.ts';
import { readPlainTrack } from '../json/read-plain-track.ts';

const outsideWindow = invalid('time lies outside the window in which events are taken');

/** How a request with one event is taken in, whichever route it came through. */
export class SingleEvent {
  readonly #intake: Intake;
  readonly #limits: JsonLimits;
  // One request is handled at a time, so one scan serves all.
  readonly #scan = new BodyScan();
  readonly #plain = new PlainEvent();

  constructor(intake: Intake, limits: JsonLimits) {
    this.#intake = intake;
    this.#limits = limits;
  }

  /** A body that is a track payload. */
  track(exchange: Exchange, body: Buffer): void {
    const plain = readPlainTrack(this.#plain, this.#scan.facts, body, this.#limits);
    if (plain === undefined) return this.#parseTrack(exchange, body);
    const source = this.#admitted(exchange, plain.token);
    if (source === undefined || !this.#isTimely(exchange, source, plain)) return;
    blankToken(body, plain.tokenStart, plain.tokenEnd, plain.token);
    this.#storeTrack(exchange, source, plain, body);
  }

  /** A body that is an identify payload. */
  identify(exchange: Exchange, body: Buffer): void {
    const payload = this.#read(exchange, body);
    if (payload === undefined) return;
    const source = this.#admitted(exchange, payload['token']);
    if (source === undefined) return;
    if (!identifyPayload.Check(payload))
      return this.#refuse(exchange, source, describeProblem(identifyPayload, payload));
    blankToken(body, this.#scan.tokenStart, this.#scan.tokenEnd, payload.token);
    this.#store(exchange, source, 'identify', this.#intake.newEventId(exchange.admittedAtMs), payload, body);
  }

  /** A track payload made from something else than a track body; its token is `blank`, as it must not be stored. */
  made(exchange: Exchange, source: PublishedSource, payload: TrackPayload): void {
    if (!trackPayload.Check(payload)) return this.#refuse(exchange, source, describeProblem(trackPayload, payload));
    if (!this.#isTimely(exchange, source, payload)) return;
    const body = Buffer.from(JSON.stringify(payload));
    scanBody(this.#scan, body);
    // A query or a form can say it too, and PostgreSQL would not take it of any of them.
    if (this.#scan.facts.nulls) return this.#refuse(exchange, source, 'the event holds a null character');
    this.#storeTrack(exchange, source, payload, body);
  }

  /** A track that is not plain: there is something to look at, or wrong. */
  #parseTrack(exchange: Exchange, body: Buffer): void {
    const payload = this.#read(exchange, body);
    if (payload === undefined) return;
    const source = this.#admitted(exchange, payload['token']);
    if (source === undefined) return;
    if (!trackPayload.Check(payload)) return this.#refuse(exchange, source, describeProblem(trackPayload, payload));
    if (!this.#isTimely(exchange, source, payload)) return;
    blankToken(body, this.#scan.tokenStart, this.#scan.tokenEnd, payload.token);
    this.#storeTrack(exchange, source, payload, body);
  }

  #read(exchange: Exchange, body: Buffer): JsonObject | undefined {
    const read = readJson(this.#scan, body, this.#limits);
    if (read.refusal === undefined) return read.value;
    exchange.send(read.refusal);
    return undefined;
  }

  #admitted(exchange: Exchange, token: unknown): PublishedSource | undefined {
    const source = this.#intake.admission.authenticate(exchange, token);
    return source !== undefined && this.#intake.admission.admit(exchange, source, 1) ? source : undefined;
  }

  #isTimely(
    exchange: Exchange,
    source: PublishedSource,
    { time }: { readonly time?: number | null | undefined },
  ): boolean {
    if (isWithinWindow(time, exchange.admittedAtMs, this.#intake.settings.timeWindow)) return true;
    source.tally.invalid += 1;
    exchange.send(outsideWindow);
    return false;
  }

  #refuse(exchange: Exchange, source: PublishedSource, problem: string): void {
    source.tally.invalid += 1;
    exchange.send(invalid(problem));
  }

  #storeTrack(
    exchange: Exchange,
    source: PublishedSource,
    payload: Identity & { readonly distinctId?: string | null | undefined },
    body: Buffer,
  ): void {
    const id = payload.distinctId ?? this.#intake.newEventId(exchange.admittedAtMs);
    this.#store(exchange, source, 'track', id, payload, body);
  }

  #store(
    exchange: Exchange,
    source: PublishedSource,
    kind: 'track' | 'identify',
    id: string,
    identity: Identity,
    body: Buffer,
  ): void {
    exchange.tally = source.tally;
    if (!this.#intake.commit.hasRoom(1, body.length)) {
      source.tally.lost += 1;
      return exchange.send(unavailable);
    }
    const bot = this.#intake.botScoreOf(exchange, source, body, 0, body.length);
    const context = this.#intake.contextOf(exchange, source);
    this.#intake.append(context, { kind, id, identity, bot }, body, 0, body.length, exchange, 0);
  }
}
