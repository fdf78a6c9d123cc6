import { LRUCache } from 'lru-cache';

/**
 * A token bucket that is already sampling before it is empty. While it is at least half full it lets every event
 * through; the emptier it is, the sparser the sample: one in 2, in 4, in 8 … So the sample of a flood is spread over
 * the whole flood. An event is chosen by the hash of its id, so a sparser sample is part of a denser one: two buckets
 * for the same events choose nearly the same ones.
 */
export type SamplingBucket = {
  /**
   * The number of events that this event represents: 1 if none is left out, 0 if this event is left out. `hash` has 32
   * bits. If `nowMs` is earlier than in an earlier call, the latest time counts.
   */
  take(hash: () => number, nowMs: number): number;
  /** Makes the last event count as `events` more events, which leaves less room for later ones. */
  weigh(events: number): void;
};

export type SamplingRate = {
  readonly perSecondMax: number;
  /** Number of events that may pass at once after a quiet time. */
  readonly burstMax: number;
};

const hashBits = 32;

/** Makes a full bucket. */
export function createSamplingBucket({ perSecondMax, burstMax }: SamplingRate, startMs: number): SamplingBucket {
  const perMs = perSecondMax / 1000;
  let tokens = burstMax;
  let filledAtMs = startMs;
  return {
    take(hash, nowMs) {
      if (nowMs > filledAtMs) {
        tokens = Math.min(burstMax, tokens + (nowMs - filledAtMs) * perMs);
        filledAtMs = nowMs;
      }
      if (tokens < 1) return 0;
      const halvings = Math.min(Math.floor(Math.log2(burstMax / tokens)), hashBits - 2);
      if (halvings > 0 && hash() >>> (hashBits - halvings) !== 0) return 0;
      tokens -= 1;
      return 2 ** halvings;
    },
    weigh(events) {
      tokens -= events;
    },
  };
}

/** One bucket for each key, all with the same rate. */
export type SamplingBuckets = { of(key: string, nowMs: number): SamplingBucket };

/** Beyond `keysMax` keys, the least recently used bucket is forgotten; its key then starts with a full bucket. */
export function createSamplingBuckets(rate: SamplingRate, keysMax = 10_000): SamplingBuckets {
  const buckets = new LRUCache<string, SamplingBucket>({ max: keysMax });
  return {
    of(key, nowMs) {
      const found = buckets.get(key);
      if (found !== undefined) return found;
      const made = createSamplingBucket(rate, nowMs);
      buckets.set(key, made);
      return made;
    },
  };
}
