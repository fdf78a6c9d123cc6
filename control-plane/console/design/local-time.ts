/** An instant as the value of a field for times in the viewer's zone. */
export function localTime(atMs: number, to: 'minute' | 'second'): string {
  const zoneMs = new Date(atMs).getTimezoneOffset() * 60_000;
  return new Date(atMs - zoneMs).toISOString().slice(0, to === 'minute' ? 16 : 19);
}

/** The last year that fields and the API can name. */
const endMs = Date.UTC(10_000, 0);

/**
 * The instant, in ms since the epoch, that an address or a field names; NaN if it names none. Without an offset, a time
 * is in the viewer's zone.
 */
export function readTime(text: string): number {
  const atMs = Date.parse(text);
  return Math.abs(atMs) < endMs ? atMs : Number.NaN;
}
