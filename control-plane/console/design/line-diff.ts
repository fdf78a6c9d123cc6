export type DiffLine = { readonly text: string; readonly isOwn: boolean };

/**
 * Texts with more lines are shown without marks: the time of a comparison grows with the product of the two numbers of
 * lines.
 */
const linesMax = 600;

/** The lines of two texts; `isOwn` marks the lines that the other text lacks. Pure. */
export function diffLines(before: string, after: string): readonly [readonly DiffLine[], readonly DiffLine[]] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  if (a.length > linesMax || b.length > linesMax) return [plain(a), plain(b)];
  const common = longestCommon(a, b);
  const [old, now]: [DiffLine[], DiffLine[]] = [[], []];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const isSame = i < a.length && j < b.length && a[i] === b[j];
    const dropsOld = j >= b.length || (i < a.length && at(common, i + 1, j) >= at(common, i, j + 1));
    if (isSame) {
      old.push({ text: a[i] ?? '', isOwn: false });
      now.push({ text: b[j] ?? '', isOwn: false });
      i += 1;
      j += 1;
    } else if (dropsOld) old.push({ text: a[i++] ?? '', isOwn: true });
    else now.push({ text: b[j++] ?? '', isOwn: true });
  }
  return [old, now];
}

/** Lines without marks. */
export function plainLines(text: string): DiffLine[] {
  return plain(text.split('\n'));
}

function plain(lines: readonly string[]): DiffLine[] {
  return lines.map((text) => ({ text, isOwn: false }));
}

/** `[i][j]` of the result: length of the longest common subsequence of `a` from line i and `b` from line j. */
function longestCommon(a: readonly string[], b: readonly string[]): readonly Uint16Array[] {
  const table = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const row = table[i];
      if (row === undefined) continue;
      row[j] = a[i] === b[j] ? at(table, i + 1, j + 1) + 1 : Math.max(at(table, i + 1, j), at(table, i, j + 1));
    }
  }
  return table;
}

function at(table: readonly Uint16Array[], i: number, j: number): number {
  return table[i]?.[j] ?? 0;
}
