/** Number of windows at the end that are compared with the same number of windows before them. */
const windowsCompared = 2;
const changeMax = 0.05;

/**
 * Whether a rate is steady: the mean of the last two windows is within five percent of the mean of the two windows
 * before. Single windows are not compared, because on a shared machine they always differ by more.
 */
export function isSteady(perS: readonly number[]): boolean {
  if (perS.length < 2 * windowsCompared) return false;
  const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const last = meanOf(perS.slice(-windowsCompared));
  const before = meanOf(perS.slice(-2 * windowsCompared, -windowsCompared));
  return last > 0 && Math.abs(last / before - 1) <= changeMax;
}

export type WarmUp = {
  /** Minimum duration, in ms. */
  readonly warmUpMs: number;
  /** Maximum duration in ms, steady or not; by default the minimum. */
  readonly warmUpMaxMs?: number | undefined;
};

export type WarmedUp = {
  readonly tookMs: number;
  /** False if the warm-up ended at its maximum: the rate may still have been rising. */
  readonly isSteady: boolean;
};

const windowMs = 400;

/**
 * Waits until `count` grows at a steady rate, within the given bounds. Once `isOver` returns true for the count, the
 * warm-up ends even if the rate is not steady, but not before its minimum duration.
 */
export async function warmUp(
  { warmUpMs, warmUpMaxMs = warmUpMs }: WarmUp,
  count: () => number | Promise<number>,
  { isOver = () => false }: { isOver?(counted: number): boolean } = {},
): Promise<WarmedUp> {
  const startedMs = performance.now();
  const passedMs = (): number => performance.now() - startedMs;
  const perS: number[] = [];
  let last = { atMs: startedMs, counted: await count() };
  for (;;) {
    const isDone = passedMs() >= warmUpMs && (isSteady(perS) || isOver(last.counted));
    if (isDone || passedMs() >= warmUpMaxMs) return { tookMs: passedMs(), isSteady: isSteady(perS) };
    const waitMs = Math.min(windowMs, warmUpMaxMs - passedMs());
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    const now = { atMs: performance.now(), counted: await count() };
    perS.push(((now.counted - last.counted) * 1000) / (now.atMs - last.atMs));
    last = now;
  }
}
