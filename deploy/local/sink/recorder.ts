/** One request the sink received, as `GET /events` shows it. */
export type RecordedRequest = {
  readonly time: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed body if it is JSON, else its text; null if there was none. */
  readonly body: unknown;
  /** Status of the sink's answer; null if it does not answer. */
  readonly status: number | null;
};

export type Recorder = {
  add(request: RecordedRequest, bodyBytes: number): void;
  /** The newest first: at most `limit`, with bodies of `bytesMax` in total, but at least one request if any exists. */
  newest(limit: number, bytesMax: number): readonly RecordedRequest[];
  clear(): void;
  stats(): SinkStats;
};

export type SinkStats = {
  /** Requests since the start or the last clear. */
  readonly requests: number;
  readonly kept: number;
  readonly bodyBytes: number;
  readonly byStatus: Readonly<Record<string, number>>;
  readonly byPath: Readonly<Record<string, number>>;
  /** Distinct `Idempotency-Key`s among the kept requests. */
  readonly idempotencyKeys: number;
};

const pathsMax = 1_000;

/** Keeps the newest `requestsMax` requests whose bodies fit `bytesMax` together. */
export function createRecorder(requestsMax: number, bytesMax: number): Recorder {
  let kept: { readonly request: RecordedRequest; readonly bytes: number }[] = [];
  let first = 0;
  let keptBytes = 0;
  let requests = 0;
  let bodyBytes = 0;
  let byStatus = new Map<string, number>();
  let byPath = new Map<string, number>();
  const isOver = (): boolean => {
    const count = kept.length - first;
    return count > requestsMax || (count > 1 && keptBytes > bytesMax);
  };
  const dropOldest = (): void => {
    keptBytes -= kept[first]?.bytes ?? 0;
    first += 1;
    if (first < requestsMax) return;
    kept = kept.slice(first);
    first = 0;
  };
  return {
    add(request, bytes) {
      kept.push({ request, bytes });
      keptBytes += bytes;
      while (isOver()) dropOldest();
      requests += 1;
      bodyBytes += bytes;
      increment(byStatus, request.status === null ? 'none' : String(request.status));
      increment(byPath, byPath.has(request.path) || byPath.size < pathsMax ? request.path : 'other');
    },
    newest(limit, listedBytesMax) {
      let from = kept.length;
      let bytes = 0;
      while (from > Math.max(first, kept.length - limit)) {
        bytes += kept[from - 1]?.bytes ?? 0;
        if (bytes > listedBytesMax && from < kept.length) break;
        from -= 1;
      }
      return kept
        .slice(from)
        .map((entry) => entry.request)
        .toReversed();
    },
    clear() {
      kept = [];
      first = 0;
      keptBytes = 0;
      requests = 0;
      bodyBytes = 0;
      byStatus = new Map();
      byPath = new Map();
    },
    stats: () => ({
      requests,
      kept: kept.length - first,
      bodyBytes,
      byStatus: Object.fromEntries(byStatus),
      byPath: Object.fromEntries(byPath),
      idempotencyKeys: new Set(kept.slice(first).flatMap(({ request }) => request.headers['idempotency-key'] ?? []))
        .size,
    }),
  };
}

function increment(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
