/**
 * Text in the form in which searches compare it, whatever its case. Folded here and not in SQL, because what `lower`
 * does there depends on the database's locale.
 */
export function foldText(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/** A LIKE pattern for folded text that contains `part`, in which `%` and `_` mean themselves. */
export function containsFolded(part: string): string {
  return `%${foldText(part).replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}
