import { hash } from 'node:crypto';

/** How many requests without an id are remembered, and for how long. */
const usual = { requestsMax: 10_000, ageMsMax: 120_000 };

type RememberedRequestsSettings = Readonly<typeof usual>;

/** An event, and how often its client has retried it. */
export type RememberedRequest = {
  readonly id: string;
  readonly key: string;
  readonly atMs: number;
  /** The retry count that the client sent with its latest request. */
  tries: number;
  /** Whether the log has stored the event. */
  stored: boolean;
};

/**
 * Assigns ids to events of requests without one. Libraries generated from an OpenAPI document send how often they have
 * already tried a request. A request with the body of an earlier request and a higher retry count is the same event: it
 * gets the same id, so that deduplication drops the repeat. Only this process remembers requests, for a limited time.
 * So a retry that reaches another process or arrives later is an event of its own.
 */
export class RememberedRequests {
  readonly #settings: RememberedRequestsSettings;
  /** Oldest first. */
  readonly #requests = new Set<RememberedRequest>();
  readonly #byKey = new Map<string, RememberedRequest[]>();

  constructor(settings: RememberedRequestsSettings = usual) {
    this.#settings = settings;
  }

  get size(): number {
    return this.#requests.size;
  }

  /** The event of a source's request with this body. `retryCount` is the header. Undefined without a retry count. */
  eventOf(
    sender: string,
    body: Uint8Array,
    retryCount: string,
    at: { readonly ms: number; readonly newId: () => string },
  ): RememberedRequest | undefined {
    const tries = readCount(retryCount);
    if (tries === undefined || this.#settings.requestsMax === 0) return undefined;
    this.#forget(at.ms);
    const key = `${sender} ${hash('sha1', body, 'base64')}`;
    const earlier = tries === 0 ? undefined : latestOf(this.#byKey.get(key) ?? [], tries);
    if (earlier !== undefined) {
      earlier.tries = tries;
      return earlier;
    }
    const request: RememberedRequest = { id: at.newId(), key, atMs: at.ms, tries, stored: false };
    this.#requests.add(request);
    const same = this.#byKey.get(key);
    if (same === undefined) this.#byKey.set(key, [request]);
    else same.push(request);
    return request;
  }

  #forget(nowMs: number): void {
    for (const request of this.#requests) {
      if (this.#requests.size < this.#settings.requestsMax && request.atMs + this.#settings.ageMsMax > nowMs) return;
      this.#requests.delete(request);
      const left = this.#byKey.get(request.key)?.filter((other) => other !== request) ?? [];
      if (left.length === 0) this.#byKey.delete(request.key);
      else this.#byKey.set(request.key, left);
    }
  }
}

/**
 * The request that a retry repeats: the latest with fewer tries that is not known to be stored, or else the latest with
 * fewer tries.
 */
function latestOf(same: readonly RememberedRequest[], tries: number): RememberedRequest | undefined {
  const candidates = same.filter((request) => request.tries < tries);
  return candidates.findLast(({ stored }) => !stored) ?? candidates.at(-1);
}

function readCount(header: string): number | undefined {
  return /^\d{1,3}$/.test(header) ? Number(header) : undefined;
}
