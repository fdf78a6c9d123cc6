/** The name in `known` that is closest to `written`, ignoring case; undefined if over a third of the letters differ. */
export function closestName(written: string, known: readonly string[]): string | undefined {
  const wanted = written.trim().toLowerCase();
  const slipsMax = Math.max(1, Math.floor(wanted.length / 3));
  let closest: { readonly name: string; readonly slips: number } | undefined;
  for (const name of known) {
    const slips = countSlips(wanted, name.toLowerCase());
    if (slips <= slipsMax && slips < (closest?.slips ?? Infinity)) closest = { name, slips };
  }
  return closest?.name;
}

/** `; did you mean X?`, or an empty text if no known name is close. */
export function didYouMean(written: string, known: readonly string[]): string {
  const meant = closestName(written, known);
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

/** Number of missing, added and wrong letters and swapped neighbours: the optimal string alignment distance. */
function countSlips(a: string, b: string): number {
  let [twoAbove, above]: [readonly number[], readonly number[]] = [
    [],
    Array.from({ length: b.length + 1 }, (_, i) => i),
  ];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const wrong = (above[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? (twoAbove[j - 2] ?? 0) + 1 : Infinity;
      row.push(Math.min((above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, wrong, swapped));
    }
    [twoAbove, above] = [above, row];
  }
  return above[b.length] ?? 0;
}
