import type { Histogram } from 'hdr-histogram-js';
import { createLatencies, encodeLatencies, percentilesOf, recordMs } from '../load/load-recorder.ts';
import { dueMark } from './sink-messages.ts';
import type { SinkGroup, SinkTally } from './sink-messages.ts';

type Counts = {
  requests: number;
  events: number;
  readonly latencies: Histogram;
  readonly overall: Histogram;
  readonly paths: Set<string>;
};

/** Maximum number of paths that a group distinguishes. */
const pathsMax = 10_000;
/** Maximum length of a time, in characters. */
const timeCharactersMax = 20;

/** Counts the requests and events of a sink, grouped by the first path segment. */
export class SinkCounts {
  readonly #groups = new Map<string, Counts>();

  count(path: string, body: Buffer, nowMs: number): void {
    const counts = this.#groupOf(path);
    counts.requests += 1;
    if (counts.paths.size < pathsMax) counts.paths.add(path);
    for (let at = body.indexOf(dueMark); at !== -1; at = body.indexOf(dueMark, at)) {
      at += dueMark.length;
      counts.events += 1;
      const latencyMs = nowMs - Number.parseFloat(body.toString('latin1', at, at + timeCharactersMax));
      recordMs(counts.latencies, latencyMs);
      recordMs(counts.overall, latencyMs);
    }
  }

  /** Returns the figures so far, and restarts `latencyMs`. */
  take(nowMs: number): SinkTally {
    const groups: Record<string, SinkGroup> = {};
    for (const [name, { requests, events, latencies, overall, paths }] of this.#groups) {
      groups[name] = {
        requests,
        events,
        latencyMs: percentilesOf(latencies),
        overallMs: percentilesOf(overall),
        paths: paths.size,
      };
      latencies.reset();
    }
    return { atMs: nowMs, groups };
  }

  /** Latencies of a group since the last `forget`, encoded for `decodeLatencies`. */
  latenciesOf(group: string): string {
    return encodeLatencies(this.#groups.get(group)?.overall ?? createLatencies());
  }

  /** Resets all latencies and the paths; the counts of requests and events continue. */
  forget(): void {
    for (const { latencies, overall, paths } of this.#groups.values()) {
      latencies.reset();
      overall.reset();
      paths.clear();
    }
  }

  #groupOf(path: string): Counts {
    const end = path.indexOf('/', 1);
    const name = path.slice(1, end === -1 ? path.length : end);
    let counts = this.#groups.get(name);
    if (counts === undefined) {
      counts = { requests: 0, events: 0, latencies: createLatencies(), overall: createLatencies(), paths: new Set() };
      this.#groups.set(name, counts);
    }
    return counts;
  }
}
