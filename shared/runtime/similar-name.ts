/** Short names of a letter's difference are rather other programs' variables than ours misspelt. */
const lengthMin = 10;

/** The name that `written` was meant to be: one that differs by a letter too many, missing, wrong or swapped. */
export function similarName(written: string, known: readonly string[]): string | undefined {
  if (written.length < lengthMin) return undefined;
  return known.find((name) => name !== written && differsByOneSlip(written, name));
}

function differsByOneSlip(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start += 1;
  let endA = a.length;
  let endB = b.length;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA -= 1;
    endB -= 1;
  }
  const [restA, restB] = [a.slice(start, endA), b.slice(start, endB)];
  if (restA.length <= 1 && restB.length <= 1) return true;
  return restA.length === 2 && restB.length === 2 && restA[0] === restB[1] && restA[1] === restB[0];
}
