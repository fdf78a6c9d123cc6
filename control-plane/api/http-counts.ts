import { BucketCounts } from '../../shared/runtime/metrics/bucket-counts.ts';
import type { BucketNumbers } from '../../shared/runtime/metrics/bucket-counts.ts';

/** Number and duration of requests by route, never by address. */
export type HttpCounts = {
  /** Registers a route, so that it is shown from the start. */
  expect(route: string, method: string): void;
  count(route: string, method: string, code: number, tookMs: number): void;
  readonly routes: Iterable<RouteCounts>;
};

export type RouteCounts = {
  readonly route: string;
  readonly method: string;
  readonly byCode: ReadonlyMap<number, number>;
  readonly times: BucketNumbers;
};

/** Status codes that are shown from the start, so that the first request already counts in a rate. */
const usualCodes = [200, 500];

/** `boundsS`: upper bounds of the buckets for request times, in seconds. */
export function createHttpCounts(boundsS: readonly number[]): HttpCounts {
  const routes = new Map<string, Counting>();
  const find = (route: string, method: string): Counting => {
    const key = `${method} ${route}`;
    const known = routes.get(key);
    if (known !== undefined) return known;
    const made = new Counting(route, method, boundsS);
    routes.set(key, made);
    return made;
  };
  return {
    expect: (route, method) => void find(route, method),
    count: (route, method, code, tookMs) => find(route, method).count(code, tookMs),
    get routes() {
      return routes.values();
    },
  };
}

class Counting implements RouteCounts {
  readonly byCode = new Map<number, number>(usualCodes.map((code) => [code, 0]));
  readonly #times: BucketCounts;
  readonly route: string;
  readonly method: string;

  constructor(route: string, method: string, boundsS: readonly number[]) {
    this.#times = new BucketCounts(boundsS);
    this.route = route;
    this.method = method;
  }

  get times(): BucketNumbers {
    return this.#times.numbers;
  }

  count(code: number, tookMs: number): void {
    this.byCode.set(code, (this.byCode.get(code) ?? 0) + 1);
    this.#times.observe(tookMs / 1_000);
  }
}
