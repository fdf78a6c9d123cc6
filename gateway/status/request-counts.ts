import { BucketCounts } from '../../shared/runtime/metrics/bucket-counts.ts';
import type { BucketNumbers } from '../../shared/runtime/metrics/bucket-counts.ts';
import { gatewayMetrics } from './metrics.ts';

const codesPerRoute = 600;

/** Requests by route and status, and their times by route, in plain numbers. */
export class RequestCounts {
  readonly #counts: Float64Array;
  readonly #times: readonly BucketCounts[];

  /** Keeps one more entry than there are routes, for requests without a route. */
  constructor(routes: number) {
    this.#counts = new Float64Array((routes + 1) * codesPerRoute);
    this.#times = Array.from({ length: routes + 1 }, () => new BucketCounts(gatewayMetrics.requestDuration.bounds));
  }

  count(route: number, code: number, tookMs: number): void {
    const at = route * codesPerRoute + code;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#times[route]?.observe(tookMs / 1_000);
  }

  /** Visits every status that a route has answered; visits the statuses in `always` even if their count is 0. */
  forEach(always: readonly number[], visit: (route: number, code: number, requests: number) => void): void {
    this.#counts.forEach((requests, at) => {
      const code = at % codesPerRoute;
      if (requests > 0 || always.includes(code)) visit(Math.floor(at / codesPerRoute), code, requests);
    });
  }

  times(route: number): BucketNumbers {
    return this.#times[route]?.numbers ?? [];
  }
}
