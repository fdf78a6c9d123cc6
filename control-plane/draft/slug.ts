const slugCharsMax = 48;

/** A name as an id: lower-case ASCII words with dashes between them; empty when nothing of it can be kept. */
export function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, slugCharsMax)
    .replaceAll(/^-+|-+$/g, '');
}
