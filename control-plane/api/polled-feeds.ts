import type { Feed } from './event-streams.ts';

/** Feeds by key. While a feed has listeners, it polls for changes, once for all of them. */
export type PolledFeeds<Key, Value> = {
  of(key: Key): Feed<Value>;
  stop(): void;
};

export type PolledFeedsOptions<Key, Value> = {
  readonly everyMs: number;
  load(key: Key): Promise<Value>;
  /** Called with an error of `load`; polling continues. */
  onFailure(error: unknown): void;
};

export function createPolledFeeds<Key, Value>(options: PolledFeedsOptions<Key, Value>): PolledFeeds<Key, Value> {
  const feeds = new Map<string, PolledFeed<Value>>();
  return {
    of(key) {
      const name = JSON.stringify(key);
      return {
        subscribe(push) {
          let feed = feeds.get(name);
          if (feed === undefined) {
            feed = new PolledFeed(() => options.load(key), options);
            feeds.set(name, feed);
          }
          const shared = feed;
          const leave = shared.subscribe(push);
          return () => {
            leave();
            if (shared.isUnused && feeds.get(name) === shared) feeds.delete(name);
          };
        },
      };
    },
    stop() {
      for (const feed of feeds.values()) feed.stop();
      feeds.clear();
    },
  };
}

class PolledFeed<Value> {
  readonly #listeners = new Set<(value: Value) => void>();
  readonly #timer: NodeJS.Timeout;
  readonly #load: () => Promise<Value>;
  readonly #onFailure: (error: unknown) => void;
  #newest: { readonly value: Value; readonly text: string } | undefined;
  #isLoading = false;

  constructor(
    load: () => Promise<Value>,
    { everyMs, onFailure }: Pick<PolledFeedsOptions<never, Value>, 'everyMs' | 'onFailure'>,
  ) {
    this.#load = load;
    this.#onFailure = onFailure;
    this.#timer = setInterval(() => void this.#look(), everyMs);
    void this.#look();
  }

  get isUnused(): boolean {
    return this.#listeners.size === 0;
  }

  subscribe(push: (value: Value) => void): () => void {
    // A new function each time, because the same `push` may subscribe twice.
    const listener = (value: Value): void => push(value);
    this.#listeners.add(listener);
    if (this.#newest !== undefined) listener(this.#newest.value);
    return () => {
      this.#listeners.delete(listener);
      if (this.isUnused) this.stop();
    };
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#listeners.clear();
  }

  async #look(): Promise<void> {
    // If a poll takes longer than the interval, the next one does not start before it ends.
    if (this.#isLoading) return;
    this.#isLoading = true;
    try {
      const value = await this.#load();
      const text = JSON.stringify(value);
      if (text === this.#newest?.text) return;
      this.#newest = { value, text };
      for (const listener of this.#listeners) listener(value);
    } catch (error) {
      this.#onFailure(error);
    } finally {
      this.#isLoading = false;
    }
  }
}
