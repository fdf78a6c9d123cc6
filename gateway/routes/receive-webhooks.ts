import { isJsonObject } from '../../shared/runtime/json.ts';
import type { ProviderEvent } from '../../shared/sources/sdk/provider-event.ts';
import { isSame } from '../../shared/sources/sdk/signature.ts';
import type { SourceKind } from '../../shared/sources/sdk/source-kind.ts';
import { findSourceKind } from '../../shared/sources/registry.ts';
import { Inflater } from '../http/inflate.ts';
import type { Exchange } from '../http/exchange.ts';
import { busy, createReply, failure, invalid, jsonReply, problemOf, tooLarge, unauthorized } from '../http/reply.ts';
import type { Reply } from '../http/reply.ts';
import { isGzipCoding } from '../http/request-head.ts';
import { Admitted } from '../ingest/admission.ts';
import type { Admission } from '../ingest/admission.ts';
import type { MadeEvents } from '../ingest/made-events.ts';
import { countInvalid } from '../ingest/published-sources.ts';
import type { PublishedSource } from '../ingest/published-sources.ts';
import { madeToken, readQueryEvent } from './query-event.ts';
import type { EventLimits, SingleEvent } from '../ingest/single-event.ts';
import { refuseUnsigned } from '../webhook/check-signature.ts';
import { formType, mediaTypeOf, multipartType } from '../webhook/media-types.ts';
import { payloadOf } from '../webhook/provider-payload.ts';
import { asUtf8, readForm, readMultipart, readProviderJson } from '../webhook/read-body.ts';
import type { ReadBody } from '../webhook/read-body.ts';
import type { WebhookSettings } from '../webhook/webhook-settings.ts';

export type WebhookParts = {
  readonly admission: Admission;
  readonly events: SingleEvent;
  readonly made: MadeEvents;
  readonly limits: EventLimits;
  readonly bodyBytesMax: number;
  readonly settings: WebhookSettings;
};

/** The source key in a request's address, and the query. */
export type WebhookAddress = { readonly token: string; readonly query: string };

/** Reads webhook requests as the type of their source requires, and stores their events. */
export class Webhooks {
  readonly #parts: WebhookParts;
  readonly #inflater: Inflater;

  constructor(parts: WebhookParts) {
    this.#parts = parts;
    const { gzip } = parts.settings;
    this.#inflater = new Inflater({ bytesMax: parts.bodyBytesMax, ...gzip });
  }

  accept(exchange: Exchange, body: Buffer, address: WebhookAddress): void {
    if (!isGzipCoding(exchange.head.contentEncoding)) return this.#admit(exchange, body, address);
    const { admission } = this.#parts;
    // Checked before any work on the body.
    if (admission.sourceOf(address.token) === undefined) return exchange.send(unauthorized);
    const started = this.#inflater.inflate({
      // Copied: the engine reuses the bytes of `body` after this call.
      compressed: Buffer.from(body),
      address: admission.addressOf(exchange),
      done: (result) => {
        if (result.kind === 'body') exchange.attempt(() => this.#admit(exchange, result.body, address));
        else exchange.send(result.kind === 'malformed' ? malformedGzip : tooLarge(this.#parts.bodyBytesMax));
      },
    });
    if (!started) exchange.send(busy);
  }

  #admit(exchange: Exchange, body: Buffer, address: WebhookAddress): void {
    exchange.bodyBytes = body.length;
    const { admission, settings } = this.#parts;
    const source = admission.sourceOf(address.token);
    if (source === undefined) return exchange.send(unauthorized);
    const admitted = admission.admitSigned(exchange, source, 1);
    if (!(admitted instanceof Admitted)) return exchange.send(admitted);
    // Checked before the body is read, because reading may change signed bytes.
    const time = { nowMs: admitted.atMs, ageMsMax: settings.signatureAgeMsMax };
    const unsigned = refuseUnsigned(source, exchange, body, time);
    if (unsigned !== undefined) return refuse(exchange, source, unsigned);
    if (mediaTypeOf(exchange) === multipartType) return this.#readMultipart(exchange, admitted, body, address);
    this.#take(exchange, admitted, this.#read(exchange, body), address);
  }

  #read(exchange: Exchange, given: Buffer): ReadBody {
    const body = asUtf8(given, exchange.head.contentType);
    if (mediaTypeOf(exchange) === formType) return { value: readForm(body) };
    const { limits, settings } = this.#parts;
    return readProviderJson(body, { ...limits, arrayKeysMax: settings.arrayKeysMax });
  }

  #readMultipart(exchange: Exchange, admitted: Admitted, body: Buffer, address: WebhookAddress): void {
    // Copied: the reader answers later, and the engine reuses the bytes after this call.
    void readMultipart(Buffer.from(body), exchange.head.contentType).then((read) => {
      exchange.attempt(() => this.#take(exchange, admitted, read, address));
    });
  }

  #take(exchange: Exchange, admitted: Admitted, read: ReadBody, address: WebhookAddress): void {
    const { source } = admitted;
    if (read.refusal !== undefined) return refuse(exchange, source, read.refusal);
    if (read.leftOut !== undefined && read.leftOut > 0) countInvalid(source.tally, unreadable, read.leftOut);
    const kind = findSourceKind(source.type);
    if (kind !== undefined) return this.#takeEvents(exchange, admitted, kind.readEvents(read.value), address);
    const { value } = read;
    if (Array.isArray(value)) return this.#takeEvents(exchange, admitted, value.map(anyEvent), address);
    this.#takeAnything(exchange, admitted, value as object, address);
  }

  /** Stores a body from a source without a known kind. */
  #takeAnything(
    exchange: Exchange,
    admitted: Admitted,
    eventProperties: object,
    { token, query }: WebhookAddress,
  ): void {
    const { event, fields } = readQueryEvent(query);
    const payload = { token: madeToken, event: event ?? admitted.source.name, ...fields, eventProperties };
    this.#parts.events.made(exchange, admitted, payload, token);
  }

  #takeEvents(
    exchange: Exchange,
    admitted: Admitted,
    events: ReturnType<SourceKind['readEvents']>,
    { token, query }: WebhookAddress,
  ): void {
    const { admission, made, limits, settings } = this.#parts;
    const { source, atMs } = admitted;
    if (events.length > settings.eventsMax) return refuse(exchange, source, tooManyEvents(settings.eventsMax));
    if (events.length > 1) {
      // Taken again with the others: only one amount may be above the burst.
      source.limits.events.credit(source.keyHash, 1);
      const all = admission.admitSigned(exchange, source, events.length);
      if (!(all instanceof Admitted)) return exchange.send(all);
    }
    const { timeWindow } = limits;
    const context = { sourceName: source.name, says: readQueryEvent(query), nowMs: atMs, timeWindow, token: madeToken };
    made.store(
      exchange,
      admitted,
      events.map((event, index) => payloadOf(event, context, index)),
      token,
    );
  }
}

const unreadable = 'a member of the body could not be read';
const malformedGzip = invalid('the body is not valid gzip');

/** The event for a member of an array from a source without a known kind; such a member does not identify a visitor. */
const anyEvent = (member: unknown): ProviderEvent => ({
  kind: 'track',
  name: undefined,
  id: undefined,
  timeMs: undefined,
  userId: undefined,
  externalId: undefined,
  email: undefined,
  traits: {},
  custom: undefined,
  context: {},
  ip: undefined,
  userAgent: undefined,
  consent: undefined,
  integrations: undefined,
  properties: isJsonObject(member) ? member : { value: member },
});

const tooManyEvents = (limit: number): Reply =>
  jsonReply(413, { success: false, error: `a request has ${limit} events at most`, limit });

function refuse(exchange: Exchange, source: PublishedSource, reply: Reply): void {
  if (reply.code < 500) countInvalid(source.tally, problemOf(reply));
  exchange.send(reply);
}

/** The answer to a provider that verifies the address before it uses it. */
export function answerChallenge({ type }: PublishedSource, token: string, query: string): Reply {
  const challenge = findSourceKind(type)?.challenge;
  return challenge === undefined ? postOnly : echoChallenge(challenge, token, new URLSearchParams(query));
}

const postOnly = failure(405, 'method not allowed', { headers: [['allow', 'POST, OPTIONS']] });
const wrongToken = failure(403, "the verify token is not the source's key");
const noChallenge = failure(400, 'the challenge must be 1 to 256 letters, digits, - and _');

function echoChallenge(challenge: NonNullable<SourceKind['challenge']>, token: string, query: URLSearchParams): Reply {
  if (!isSame(query.get(challenge.token) ?? '', token)) return wrongToken;
  const text = query.get(challenge.answer) ?? '';
  // The answer contains this text, so it must not be text that a browser would show as a page.
  if (!/^[\w-]{1,256}$/.test(text)) return noChallenge;
  return createReply(200, Buffer.from(text), {
    headers: [
      ['content-type', 'text/plain'],
      ['x-content-type-options', 'nosniff'],
      ['cache-control', 'no-store'],
    ],
  });
}
