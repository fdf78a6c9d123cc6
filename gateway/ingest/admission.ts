import type { Exchange } from '../http/exchange.ts';
import type { Reply } from '../http/reply.ts';
import { forbidden, signedOnly, tooMany, unauthorized } from '../http/reply.ts';
import { isPageAllowed } from '../../shared/admission/allowed-origins.ts';
import type { ClientAddress } from '../../shared/admission/client-address.ts';
import type { PublishedSource, PublishedSources } from './published-sources.ts';
import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { count } from '../../shared/runtime/variables.ts';

/** The source of an admitted request, and when it was admitted. */
export class Admitted {
  readonly source: PublishedSource;
  /** Ms since the epoch. */
  readonly atMs: number;

  constructor(source: PublishedSource, atMs: number) {
    this.source = source;
    this.atMs = atMs;
  }
}

/** The answer to a request that is not admitted. */
export type Refusal = Reply;

/** Decides which source a token belongs to, and whether that source accepts the request. */
export class Admission {
  readonly #sources: PublishedSources;
  readonly #clientAddress: ClientAddress;

  constructor(sources: PublishedSources, clientAddress: ClientAddress) {
    this.#sources = sources;
    this.#clientAddress = clientAddress;
  }

  /** The source of a token; undefined if no source with this token accepts events. */
  sourceOf(token: unknown): PublishedSource | undefined {
    return typeof token === 'string' ? this.#sources.byToken(token) : undefined;
  }

  /** Admits a request of `events` events by its token, or returns the refusal. */
  admitToken(exchange: Exchange, token: unknown, events = 1): Admitted | Refusal {
    const source = this.sourceOf(token);
    return source === undefined ? unauthorized : this.admit(exchange, source, events);
  }

  /**
   * Admits a request of `events` events, or returns the refusal. A source with a signing provider accepts only signed
   * requests.
   */
  admit(exchange: Exchange, source: PublishedSource, events: number): Admitted | Refusal {
    const admitted = this.admitSigned(exchange, source, events);
    if (source.signing.kind === 'none' || !(admitted instanceof Admitted)) return admitted;
    source.tally.forbidden += events;
    return signedOnly;
  }

  /** Like `admit`, for a route that checks the signature itself. */
  admitSigned(exchange: Exchange, source: PublishedSource, events: number): Admitted | Refusal {
    // Read once per request, since reading a clock takes time.
    const nowMs = Date.now();
    source.activity.lastTriggeredAtMs = nowMs;
    if (!this.#isAllowed(exchange, source)) {
      source.tally.forbidden += events;
      return forbidden;
    }
    // A request without events, such as a page's for its settings, adds nothing to the waiting events.
    if (events > 0 && source.intake.refusal !== undefined) {
      source.tally.backpressure += events;
      return source.intake.refusal;
    }
    // The bytes of a body are charged once, however many of its events are admitted.
    const bytes = exchange.bodyBytes;
    exchange.bodyBytes = 0;
    const refused = refusedBy(source, events, bytes, nowMs);
    if (refused === undefined) return new Admitted(source, nowMs);
    source.tally.limited += events;
    return refused;
  }

  /** The client's address, for the envelope; undefined if it may not be kept. */
  keptAddress(exchange: Exchange, source: PublishedSource): string | undefined {
    return source.excludesContext ? undefined : this.addressOf(exchange) || undefined;
  }

  /** Whether the source accepts requests from this page and this address. */
  #isAllowed(exchange: Exchange, { domains, addresses }: PublishedSource): boolean {
    if (!isPageAllowed(domains, exchange.head.origin, exchange.head.referer)) return false;
    return addresses === undefined || addresses.includes(this.addressOf(exchange));
  }

  /** The client's address; empty if the client was gone before the first read. */
  addressOf(exchange: Exchange): string {
    return (exchange.clientAddress ??= this.#clientAddress.of(exchange.remoteAddress(), exchange.head.forwardedFor));
  }
}

/** The refusal if a source key exceeds its rate limit of events or bytes; otherwise undefined. */
function refusedBy({ limits, keyHash }: PublishedSource, count: number, weight: number, nowMs: number) {
  // A limit refuses a key in debt even if nothing is taken.
  const untilEventsMs = count === 0 ? 0 : limits.events.take(keyHash, count, nowMs);
  if (untilEventsMs > 0) return tooMany('events', untilEventsMs);
  const untilBytesMs = weight === 0 ? 0 : limits.bytes.take(keyHash, weight, nowMs);
  if (untilBytesMs === 0) return undefined;
  limits.events.credit(keyHash, count);
  return tooMany('bytes', untilBytesMs);
}

const dayMs = 86_400_000;

/** Rate limits of one source key, and how far an event's time may lie from now. */
export const { variables: admissionEnv, read: readAdmissionSettings } = defineSettings({
  rates: {
    eventsPerS: fromEnv({
      RATE_LIMIT_EVENTS_PER_S: count(
        'Events per second of one source key; bursts of two seconds’ events are allowed',
        10_000,
      ),
    }),
    bytesPerS: fromEnv({
      RATE_LIMIT_BYTES_PER_S: count(
        'Bytes per second of one source key, of decompressed bodies; bursts of two seconds’ bytes are allowed',
        16 * 1024 ** 2,
        { unit: 'bytes' },
      ),
    }),
    /** How many seconds of a rate may be used at once. */
    burstS: 2,
  },
  timeWindow: {
    pastMsMax: fromEnv({
      TIME_PAST_MS_MAX: count("How far back an event's time may lie", 7 * dayMs, { unit: 'ms' }),
    }),
    aheadMsMax: 300_000,
  },
});
