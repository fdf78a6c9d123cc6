import type { PostRoute } from './route.ts';
import { ConcurrencyLimit } from '../../shared/limits/index.ts';
import type { Exchange } from './exchange.ts';
import type { Reply } from './reply.ts';
import { busy, tooLarge } from './reply.ts';

/** A refused body of up to this size is still read to its end, because many clients see the answer only then. */
const drainBytesMax = 16 * 1024 ** 2;
const firstBufferBytes = 16 * 1024;

/**
 * The body of an incoming request, passed to its route once the body is complete. A body in one piece, the usual case,
 * is passed without a copy. A refused body is read and dropped before the refusal is sent.
 */
export class IncomingBody {
  readonly #exchange: Exchange;
  readonly #route: PostRoute;
  readonly #budget: BodyBudget;
  readonly #parameter: string;
  readonly #query: string;
  #refusal: Reply | undefined;
  #received = 0;
  #buffer: Buffer | undefined;
  /** The address whose limit the buffer counts against; kept after the client is gone. */
  #address = '';

  constructor(exchange: Exchange, route: PostRoute, budget: BodyBudget, parameter: string, query: string) {
    this.#exchange = exchange;
    this.#route = route;
    this.#budget = budget;
    this.#parameter = parameter;
    this.#query = query;
  }

  /** Checks the headers. Refuses at once if the client waits for `100 Continue` or the body is too large to be read. */
  begin(): void {
    const { contentLength, expects } = this.#exchange.head;
    const tooLong = contentLength > this.#route.bodyBytesMax;
    this.#refusal = this.#route.refuse(this.#exchange) ?? (tooLong ? tooLarge(this.#route.bodyBytesMax) : undefined);
    if (this.#refusal !== undefined && (expects || contentLength > drainBytesMax)) this.#refuseNow(this.#refusal);
  }

  /** Receives the next piece, whose bytes the engine reuses after this call. */
  take(chunk: ArrayBuffer, isLast: boolean): void {
    if (!this.#exchange.open) return;
    try {
      this.#take(chunk, isLast);
    } catch (error) {
      this.#exchange.fail(error);
    }
  }

  /** Drops the received bytes; call when the client disconnected. */
  drop(): void {
    if (this.#buffer !== undefined) this.#budget.release(this.#address, this.#buffer.length);
    this.#buffer = undefined;
  }

  #take(chunk: ArrayBuffer, isLast: boolean): void {
    const { bodyBytesMax } = this.#route;
    if (isLast && this.#received === 0 && this.#refusal === undefined && chunk.byteLength <= bodyBytesMax) {
      this.#hand(Buffer.from(chunk));
      return;
    }
    this.#received += chunk.byteLength;
    if (this.#received > bodyBytesMax) this.#refusal ??= tooLarge(bodyBytesMax);
    if (this.#refusal === undefined && !this.#keep(chunk)) this.#refusal = busy;
    if (this.#refusal !== undefined) this.#drain(this.#refusal, isLast);
    else if (isLast) this.#finish();
  }

  #keep(chunk: ArrayBuffer): boolean {
    const start = this.#received - chunk.byteLength;
    if (this.#buffer === undefined || this.#buffer.length < this.#received) {
      const size = Math.min(Math.max(this.#received * 2, firstBufferBytes), this.#route.bodyBytesMax);
      if (this.#buffer === undefined) this.#address = this.#budget.addressOf(this.#exchange);
      if (!this.#budget.take(this.#address, size)) return false;
      const larger = Buffer.allocUnsafeSlow(size);
      this.#buffer?.copy(larger, 0, 0, start);
      this.drop();
      this.#buffer = larger;
    }
    this.#buffer.set(new Uint8Array(chunk), start);
    return true;
  }

  #finish(): void {
    const whole = this.#buffer?.subarray(0, this.#received) ?? Buffer.alloc(0);
    // The route uses or copies the bytes during the call that follows, so they no longer count.
    this.drop();
    this.#hand(whole);
  }

  #hand(body: Buffer): void {
    this.#exchange.bodyBytes = body.length;
    this.#route.accept(this.#exchange, body, this.#parameter, this.#query);
  }

  #drain(refusal: Reply, isLast: boolean): void {
    this.drop();
    if (isLast) this.#exchange.send(refusal);
    else if (this.#received > drainBytesMax) this.#refuseNow(refusal);
  }

  #refuseNow(refusal: Reply): void {
    this.#exchange.send({ ...refusal, close: true });
  }
}

export type BodyBudgetOptions = {
  readonly bytesMax: number;
  /** Maximum bytes of the bodies from one address. */
  readonly bytesOfAddressMax: number;
  addressOf(exchange: Exchange): string;
};

/** A bound on the memory of bodies that are still arriving, over all connections and by address. */
export class BodyBudget extends ConcurrencyLimit {
  readonly #options: BodyBudgetOptions;

  constructor(options: BodyBudgetOptions) {
    super({ max: options.bytesMax, ofOwnerMax: options.bytesOfAddressMax });
    this.#options = options;
  }

  addressOf(exchange: Exchange): string {
    return this.#options.addressOf(exchange);
  }
}
