import { Type } from 'typebox';
import { badRequest } from '../api/api-error.ts';

/** A time a client gives. */
export const timeField = (description: string) =>
  Type.String({ format: 'date-time', title: 'a time such as 2026-01-31T12:00:00Z', description });

export type TimeRange = { readonly fromMs?: number; readonly toMs?: number };

/** Reads the two ends of a range, in ms since the epoch. Throws a 400 that names the field. */
export function readTimeRange(fields: { readonly from?: string; readonly to?: string }): TimeRange {
  const fromMs = readTime('from', fields.from);
  const toMs = readTime('to', fields.to);
  if (fromMs !== undefined && toMs !== undefined && fromMs >= toMs) throw badRequest('from must be before to');
  return { ...(fromMs === undefined ? {} : { fromMs }), ...(toMs === undefined ? {} : { toMs }) };
}

function readTime(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  // A leap second fits the format, and is no time of this clock.
  if (Number.isNaN(ms) || ms < 0) throw badRequest(`${name} must be a time since 1970`);
  return ms;
}
