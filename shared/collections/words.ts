/** Splits a text into words, for lists that would be too long with one word per line. */
export function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
