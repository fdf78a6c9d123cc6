import type { Exchange } from './exchange.ts';
import { busy } from './reply.ts';

/** Maximum number of requests that wait for the code. Loading takes some hundredths of a second, once per process. */
const waitingMax = 32;

/** A request that waits for the code. */
type Waiting = Pick<Exchange, 'send' | 'attempt' | 'fail'>;

/**
 * Code that many gateways never need, loaded by the first request that needs it. Gateways without such requests start
 * sooner and use less memory.
 *
 * ```ts
 * const compiler = new LateCode(loadCompiler);
 * compiler.use(exchange, ({ containersOfSources }) => exchange.send(replyOf(containersOfSources(collections))));
 * ```
 */
export class LateCode<Code> {
  readonly #load: () => Promise<Code>;
  #loaded: Code | undefined;
  #waiting = 0;

  constructor(load: () => Promise<Code>) {
    this.#load = load;
  }

  get isLoaded(): boolean {
    return this.#loaded !== undefined;
  }

  /** Continues with the request once the code is loaded; answers 503 if too many requests wait for it. */
  use(exchange: Waiting, goOn: (code: Code) => void): void {
    if (this.#loaded !== undefined) return goOn(this.#loaded);
    if (this.#waiting >= waitingMax) return exchange.send(busy);
    this.#waiting += 1;
    void this.#load().then(
      (code) => {
        this.#waiting -= 1;
        this.#loaded = code;
        exchange.attempt(() => goOn(code));
      },
      (error: unknown) => {
        this.#waiting -= 1;
        exchange.fail(error);
      },
    );
  }
}
