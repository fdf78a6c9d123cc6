/** An account whose configuration was written to the log waits before the next time: what it publishes meanwhile is one write. */
export type PushPauses = {
  /** The account's configuration, of so many bytes, was written. */
  note(accountId: string, bytes: number, nowMs: number): void;
  /** Accounts that wait now. */
  waiting(nowMs: number): readonly string[];
  /** How long until the next of them need not wait, in ms; undefined while none does. */
  nextInMs(nowMs: number): number | undefined;
};

/** However little is written: everybody who follows it works through it. */
const pauseMinMs = 100;

/** `bytesPerS`: what an account may have written a second. */
export function createPushPauses(bytesPerS: number): PushPauses {
  const endsAtMs = new Map<string, number>();
  const forgetEnded = (nowMs: number): void => {
    for (const [accountId, atMs] of endsAtMs) if (atMs <= nowMs) endsAtMs.delete(accountId);
  };
  return {
    note(accountId, bytes, nowMs) {
      endsAtMs.set(accountId, nowMs + Math.max(pauseMinMs, (bytes / bytesPerS) * 1_000));
    },
    waiting(nowMs) {
      forgetEnded(nowMs);
      return [...endsAtMs.keys()];
    },
    nextInMs(nowMs) {
      forgetEnded(nowMs);
      return endsAtMs.size === 0 ? undefined : Math.min(...endsAtMs.values()) - nowMs;
    },
  };
}
