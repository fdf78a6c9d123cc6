import { badRequest } from './api-error.ts';

type TimeRange = { readonly fromMs?: number; readonly toMs?: number };

/** Reads the two ends of a range, in ms since the epoch. Throws a 400 that names the field. */
export function readTimeRange(fields: { readonly from?: string; readonly to?: string }): TimeRange {
  const fromMs = readTime('from', fields.from);
  const toMs = readTime('to', fields.to);
  if (fromMs !== undefined && toMs !== undefined && fromMs >= toMs) throw badRequest('from must be before to');
  return { ...(fromMs === undefined ? {} : { fromMs }), ...(toMs === undefined ? {} : { toMs }) };
}

/** A time of a client in ms since the epoch. Throws a 400 that names the field. */
export function readTime(name: string, text: string): number;
export function readTime(name: string, text: string | undefined): number | undefined;
export function readTime(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  // A leap second matches the format, but Date.parse does not read it.
  if (Number.isNaN(ms) || ms < 0) throw badRequest(`${name} must be a time since 1970`);
  return ms;
}
