/** How the wait of one reader of the log was judged: only a late wait holds sources back. */
export type WaitJudgement =
  | { readonly kind: 'in time' }
  /** The oldest event waits for too long. */
  | { readonly kind: 'late' }
  /** The backlog grew while the reader could not read; `leastMs` is the shortest wait since then. */
  | { readonly kind: 'catching up'; readonly leastMs: number };

/**
 * Judges a wait of `ageMs`, given the previous judgement. A reader that stood still has old events although no source
 * sent too much, so it gets time to catch up, unless it falls behind by another `ageMaxMs`. Undefined if nothing is
 * known, because the destination cannot be reached now.
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
