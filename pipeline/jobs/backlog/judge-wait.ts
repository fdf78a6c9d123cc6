/** The known wait of one reader of the log: whether it counts against senders. */
export type WaitJudgement =
  | { readonly kind: 'in time' }
  /** It waits for too long. */
  | { readonly kind: 'late' }
  /** The backlog grew while the reader could not read; `leastMs` is the shortest wait since. */
  | { readonly kind: 'catching up'; readonly leastMs: number };

/**
 * Judges a wait of `ageMs`, given the previous judgement. After a standstill a reader has old events although no source
 * sent too much: it gets time to catch up, unless it falls behind by another `ageMaxMs`. Undefined (nothing known) if
 * the destination cannot be reached now.
 */
export function judgeWait(
  before: WaitJudgement | undefined,
  ageMs: number | undefined,
  ageMaxMs: number,
): WaitJudgement | undefined {
  if (ageMs === undefined) return undefined;
  if (ageMs <= ageMaxMs) return { kind: 'in time' };
  if (before === undefined) return { kind: 'catching up', leastMs: ageMs };
  if (before.kind !== 'catching up') return { kind: 'late' };
  if (ageMs > before.leastMs + ageMaxMs) return { kind: 'late' };
  return { kind: 'catching up', leastMs: Math.min(before.leastMs, ageMs) };
}
