import { BucketCounts } from '../shared/runtime/metrics/bucket-counts.ts';
import type { BucketNumbers } from '../shared/runtime/metrics/bucket-counts.ts';
import { gatewayMetrics } from './metrics.ts';

const codesPerDoor = 600;

/** Requests by door and status, and their times by door, in plain numbers. */
export class RequestCounts {
  readonly #counts: Float64Array;
  readonly #times: readonly BucketCounts[];

  /** One more is kept than there are doors: for requests that came to none. */
  constructor(doors: number) {
    this.#counts = new Float64Array((doors + 1) * codesPerDoor);
    this.#times = Array.from({ length: doors + 1 }, () => new BucketCounts(gatewayMetrics.requestDuration.bounds));
  }

  count(door: number, code: number, tookMs: number): void {
    const at = door * codesPerDoor + code;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#times[door]?.observe(tookMs / 1_000);
  }

  /** Every status that was given by a door, and those of `always` whether given or not. */
  forEach(always: readonly number[], visit: (door: number, code: number, requests: number) => void): void {
    this.#counts.forEach((requests, at) => {
      const code = at % codesPerDoor;
      if (requests > 0 || always.includes(code)) visit(Math.floor(at / codesPerDoor), code, requests);
    });
  }

  times(door: number): BucketNumbers {
    return this.#times[door]?.numbers ?? [];
  }
}
