/** Combines the values of ids with the same label; ids without a label are left out. */
export function combineBy(
  values: Iterable<readonly [id: string, value: number]>,
  labelOf: (id: string) => string | undefined,
  combine: (a: number, b: number) => number,
): Map<string, number> {
  const combined = new Map<string, number>();
  for (const [id, value] of values) {
    const label = labelOf(id);
    if (label === undefined) continue;
    const before = combined.get(label);
    combined.set(label, before === undefined ? value : combine(before, value));
  }
  return combined;
}

export const plus = (a: number, b: number): number => a + b;
