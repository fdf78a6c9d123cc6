/** The words of a text, for lists too long to read one to a line. */
export function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
