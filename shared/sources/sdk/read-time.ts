import { textOf } from './path.ts';

/** Smaller numbers are seconds since the epoch, up to the year 5138; larger ones milliseconds, from 1973. */
const secondsBelow = 1e11;

const zoned = /(?:z|utc|gmt|[+-]\d{2}:?\d{2})$/i;
const isoShape = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)?/;

/**
 * A provider's time in ms since the epoch. Reads seconds or milliseconds, as number or text, and ISO 8601, which is
 * taken as UTC if it names no zone. Undefined for everything else.
 */
export function readTime(value: unknown): number | undefined {
  const text = textOf(value);
  if (text === undefined) return undefined;
  if (/^\d{1,16}(?:\.\d+)?$/.test(text)) {
    const count = Number(text);
    return Math.round(count < secondsBelow ? count * 1_000 : count);
  }
  if (!isoShape.test(text)) return undefined;
  const spelled = text
    .replace(' ', 'T')
    .replaceAll(' ', '')
    .replace(',', '.')
    .replace(/(:\d{2}(?:\.\d+)?[+-]\d{2})$/, '$1:00');
  const ms = Date.parse(zoned.test(spelled) || spelled.length <= 10 ? spelled : `${spelled}Z`);
  return Number.isNaN(ms) ? undefined : ms;
}
