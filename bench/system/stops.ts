/** Stops everything that was started, the newest first. */
export type Stops = {
  /** Registers a stop. Returns a function that runs it early; each stop runs only once. */
  add(stop: () => Promise<void>): () => Promise<void>;
  /** Runs all stops, even if some fail, and then throws the first failure. */
  run(): Promise<void>;
};

export function createStops(): Stops {
  const pending = new Set<() => Promise<void>>();
  const add = (stop: () => Promise<void>): (() => Promise<void>) => {
    let ending: Promise<void> | undefined;
    const once = (): Promise<void> => {
      ending ??= stop().finally(() => pending.delete(once));
      return ending;
    };
    pending.add(once);
    return once;
  };
  return {
    add,
    async run() {
      const failures: unknown[] = [];
      for (const stop of [...pending].toReversed()) await stop().catch((error: unknown) => void failures.push(error));
      if (failures.length > 0) throw failures[0];
    },
  };
}
