/** Windows compared: so many against as many before them. */
const windowsCompared = 2;
const changeMax = 0.05;

/**
 * Whether a rate has become steady: the mean of the last two windows is within five percent of the mean of the two before.
 * A mean of two, because single windows of a shared machine differ by more than that for good.
 */
export function isSteady(perS: readonly number[]): boolean {
  if (perS.length < 2 * windowsCompared) return false;
  const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const last = meanOf(perS.slice(-windowsCompared));
  const before = meanOf(perS.slice(-2 * windowsCompared, -windowsCompared));
  return last > 0 && Math.abs(last / before - 1) <= changeMax;
}

export type WarmUp = {
  /** The least it takes. */
  readonly warmUpMs: number;
  /** It ends then, steady or not; by default at its least. */
  readonly warmUpMaxMs?: number | undefined;
};

export type WarmedUp = {
  readonly tookMs: number;
  /** False where it ended for its time only: what is measured then may still have been getting faster. */
  readonly isSteady: boolean;
};

const windowMs = 400;

/**
 * Waits until what `count` counts grows at a steady rate, within the bounds given. `isOver`: whether past the least it ends
 * with so much counted.
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
