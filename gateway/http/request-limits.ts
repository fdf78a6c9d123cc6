import { ConcurrencyLimit } from '../../shared/limits/index.ts';
import type { Exchange } from './exchange.ts';

export type RequestLimitsOptions = {
  /** Maximum requests in flight from one address; 0 means no limit. */
  readonly ofAddressMax: number;
  addressOf(exchange: Exchange): string;
};

/** Limits the requests in flight from one client address: requests whose bodies arrive or that wait for the log. */
export class RequestLimits {
  readonly #inFlight: ConcurrencyLimit | undefined;
  readonly #options: RequestLimitsOptions;

  constructor(options: RequestLimitsOptions) {
    this.#options = options;
    this.#inFlight =
      options.ofAddressMax === 0 ? undefined : new ConcurrencyLimit({ ofOwnerMax: options.ofAddressMax });
  }

  /** Requests refused since the start. */
  get refused(): number {
    return this.#inFlight?.refused ?? 0;
  }

  /** Whether the request's address may have one more in flight. An admitted request counts until it has ended. */
  admit(exchange: Exchange): boolean {
    if (this.#inFlight === undefined) return true;
    const address = this.#options.addressOf(exchange);
    if (!this.#inFlight.take(address)) return false;
    exchange.countedFor = address;
    return true;
  }

  /** To be called once for every request that ends, admitted or not. */
  ended({ countedFor }: Exchange): void {
    if (countedFor !== undefined) this.#inFlight?.release(countedFor);
  }
}
