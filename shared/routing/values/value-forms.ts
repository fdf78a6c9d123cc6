/** A moment, or a whole UTC day for a date without a time of day. Both ends are included; ms since the epoch. */
export type Span = { readonly startMs: number; readonly endMs: number };

const dayMs = 86_400_000;
const epochMsMax = 8.64e15;
// Longer text is neither a number nor a date; the bound keeps the expressions below cheap on any input.
const formCharactersMax = 40;

/** The text of a value: text as it is, numbers and booleans written out. Lists, objects and null have no text. */
export function textForm(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** The number that a value represents: a number, or text with a number in decimal notation (`"19.90"`, `" 1e3 "`). */
export function numberForm(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value !== 'string' || value.length > formCharactersMax) return undefined;
  if (!/^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i.test(value)) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/**
 * The time that a value represents: ms since the epoch, as a number or as text of at least nine digits; or an ISO 8601
 * date (`2026-01-31`, a whole UTC day) or date and time (`2026-01-31T10:00:00Z`; UTC if it has no zone).
 */
export function spanForm(value: unknown): Span | undefined {
  if (typeof value === 'number') return momentOf(value);
  if (typeof value !== 'string' || value.length > formCharactersMax) return undefined;
  const text = value.trim();
  return /^-?\d{9,16}$/.test(text) ? momentOf(Number(text)) : isoSpan(text);
}

function momentOf(ms: number): Span | undefined {
  return Math.abs(ms) <= epochMsMax ? { startMs: ms, endMs: ms } : undefined;
}

const isoDate =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:(Z)|([+-])(\d\d):?(\d\d))?)?$/i;

function isoSpan(text: string): Span | undefined {
  const match = isoDate.exec(text);
  if (match === null) return undefined;
  const part = (index: number): number => Number(match[index] ?? 0);
  const startMs = utcDay(part(1), part(2), part(3));
  if (startMs === undefined) return undefined;
  if (match[4] === undefined) return { startMs, endMs: startMs + dayMs - 1 };
  const [hours, minutes, seconds, zoneHours, zoneMinutes] = [part(4), part(5), part(6), part(10), part(11)];
  if (hours > 23 || minutes > 59 || seconds > 60 || zoneHours > 23 || zoneMinutes > 59) return undefined;
  const fractionMs = Math.trunc(Number(`0.${match[7] ?? 0}`) * 1_000);
  const zoneMs = (zoneHours * 60 + zoneMinutes) * 60_000 * (match[9] === '-' ? -1 : 1);
  return momentOf(startMs + ((hours * 60 + minutes) * 60 + seconds) * 1_000 + fractionMs - zoneMs);
}

/** Start of a UTC day in ms since the epoch; undefined if the calendar has no such day. */
export function utcDay(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  // Date.UTC would read the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : undefined;
}

/**
 * Whether a value counts as false: missing, null, false, 0, an empty list or object, or text that is empty, `false` or
 * `0` (whatever its case and the space around it), because forms and query strings send booleans as text.
 */
export function isFalsyForm(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= formCharactersMax && falsyTexts.has(value.trim().toLowerCase());
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === false || value === 0;
}

const falsyTexts: ReadonlySet<string> = new Set(['', 'false', '0']);
