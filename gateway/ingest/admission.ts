import type { Exchange } from '../http/exchange.ts';
import { forbidden, tooManyEvents, unauthorized } from '../http/reply.ts';
import type { Reply } from '../http/reply.ts';
import { isPageAllowed } from '../../shared/admission/allowed-origins.ts';
import type { ClientAddress } from '../../shared/admission/client-address.ts';
import type { PublishedSource } from './published-source.ts';
import type { PublishedSources } from './published-sources.ts';

/** Decides who may send: which source a token means, and whether that source takes this request. */
export class Admission {
  readonly #sources: PublishedSources;
  readonly #clientAddress: ClientAddress;

  constructor(sources: PublishedSources, clientAddress: ClientAddress) {
    this.#sources = sources;
    this.#clientAddress = clientAddress;
  }

  /** The source a token means. Undefined, and the request is answered, when there is none that takes events. */
  authenticate(exchange: Exchange, token: unknown): PublishedSource | undefined {
    const source = typeof token === 'string' ? this.#sources.byToken(token) : undefined;
    if (source === undefined) exchange.send(unauthorized);
    return source;
  }

  /** Whether the source takes this request of `events` events now; if not, the request is answered. */
  admit(exchange: Exchange, source: PublishedSource, events: number): boolean {
    // Read once a request: clocks are not free.
    exchange.admittedAtMs = Date.now();
    source.activity.lastTriggeredAtMs = exchange.admittedAtMs;
    if (!source.isWeb) exchange.shared = false;
    const refusal = this.#refusal(exchange, source, events);
    if (refusal !== undefined) exchange.send(refusal);
    return refusal === undefined;
  }

  /** The client's address, for the envelope; undefined where it may not be kept. */
  keptAddress(exchange: Exchange, source: PublishedSource): string | undefined {
    return source.excludesContext ? undefined : this.#address(exchange) || undefined;
  }

  #refusal(exchange: Exchange, source: PublishedSource, events: number): Reply | undefined {
    if (!isPageAllowed(source.domains, exchange.head.origin, exchange.head.referer)) return forbidden;
    if (source.addresses !== undefined && !source.addresses.includes(this.#address(exchange))) return forbidden;
    const waitMs = source.bucket.take(events, exchange.admittedAtMs);
    if (waitMs === 0) return undefined;
    source.tally.limited += events;
    return tooManyEvents(Math.ceil(waitMs / 1000));
  }

  #address(exchange: Exchange): string {
    return this.#clientAddress.of(exchange.remoteAddress(), exchange.head.forwardedFor);
  }
}
