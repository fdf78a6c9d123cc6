/** The words of a text, for lists that are too long for one word a line. */
export function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
