import { specCalls, specEventNames } from '../../../gateway/routes/compat/spec-message.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { readCsv } from './read-csv.ts';

/** Number of events of one name on one day (UTC, such as `2026-11-22`) on one side. */
export type DayCount = { readonly event: string; readonly day: string; readonly count: number };

/** Names of an export's columns; if one is undefined, the usual names are tried. */
export type ExportColumns = {
  readonly event: string | undefined;
  readonly time: string | undefined;
  readonly count: string | undefined;
};

/** An unreadable export: the message says what is missing. */
export class ExportError extends Error {
  readonly code = 'export_unreadable';
}

/** Usual column names in exports, the most certain first. */
const usual = {
  event: ['event', 'event_name', 'eventName', 'event_text', 'name'],
  time: ['day', 'date', 'timestamp', 'time', 'original_timestamp', 'originalTimestamp', 'received_at', 'receivedAt'],
  count: ['count', 'events', 'total', 'volume', 'event_count'],
} as const;

/**
 * Reads another service's export (CSV with a header, a JSON array, or JSON lines) of counts by name and day, or of
 * events, which are then counted. Calls and events that have another name here are renamed. Throws ExportError,
 * CsvError or SyntaxError.
 */
export function readExport(text: string, columns: ExportColumns): DayCount[] {
  const rows = rowsOf(text.replace(/^\uFEFF/, ''));
  const [first] = rows;
  if (first === undefined) throw new ExportError('reading the export: it has no rows');
  const known = new Set(rows.slice(0, 100).flatMap((row) => Object.keys(row)));
  const find = (what: keyof typeof usual): string | undefined => {
    const asked = columns[what];
    if (asked !== undefined && !known.has(asked)) {
      throw new ExportError(`reading the export: there is no column ${asked}; there are ${[...known].join(', ')}`);
    }
    return asked ?? usual[what].find((name) => known.has(name));
  };
  const event = find('event');
  const time = find('time');
  const count = find('count');
  if (event === undefined && !known.has('type')) throw missing('event', known);
  if (time === undefined) throw missing('time', known);
  const counts = new Map<string, DayCount>();
  for (const [index, row] of rows.entries()) {
    const name = nameHere(event === undefined ? undefined : row[event], row['type']);
    const day = dayOf(row[time]);
    const amount = count === undefined ? 1 : Number(row[count]);
    if (name === undefined || day === undefined || !Number.isInteger(amount) || amount < 0) {
      throw new ExportError(`reading the export: row ${index + 1} has no ${wanting({ name, day })}`);
    }
    const key = `${day} ${name}`;
    counts.set(key, { event: name, day, count: (counts.get(key)?.count ?? 0) + amount });
  }
  return [...counts.values()];
}

const missing = (what: keyof typeof usual, known: ReadonlySet<string>): ExportError =>
  new ExportError(
    `reading the export: no column is named ${usual[what].join(' or ')}; name it with --${what}: ${[...known].join(', ')}`,
  );

const wanting = ({ name, day }: { readonly name: string | undefined; readonly day: string | undefined }): string => {
  if (name === undefined) return 'name of an event';
  return day === undefined ? 'time that can be read' : 'whole number of events';
};

function rowsOf(text: string): readonly JsonObject[] {
  const trimmed = text.trimStart();
  if (trimmed.startsWith('[')) return objectsOf(JSON.parse(trimmed));
  if (trimmed.startsWith('{')) {
    const lines = trimmed.split('\n').filter((line) => line.trim() !== '');
    return objectsOf(lines.map((line) => JSON.parse(line) as unknown));
  }
  const [header = [], ...records] = readCsv(text);
  return records.map((record) => Object.fromEntries(header.map((name, index) => [name.trim(), record[index]])));
}

function objectsOf(values: unknown): readonly JsonObject[] {
  if (!Array.isArray(values) || !values.every(isJsonObject)) {
    throw new ExportError(
      'reading the export: the file is neither CSV nor an array of JSON objects nor one JSON object per line',
    );
  }
  return values;
}

const posthogNames: Readonly<Record<string, string>> = {
  $pageview: specEventNames.page,
  $screen: specEventNames.screen,
  $groupidentify: specEventNames.group,
  $create_alias: specEventNames.alias,
};

/** The name that an event has here. Calls without a name and some PostHog events are renamed. */
function nameHere(event: unknown, type: unknown): string | undefined {
  if (type !== 'track' && specCalls.some((call) => call === type)) {
    return type === 'identify' ? '$identify' : specEventNames[type as keyof typeof specEventNames];
  }
  if (typeof event !== 'string' || event === '') return undefined;
  return Object.hasOwn(posthogNames, event) ? posthogNames[event] : event;
}

const dayAlone = /^(\d{4})-?(\d{2})-?(\d{2})$/;
const zone = /Z$|\b(?:GMT|UTC|[ECMP][SD]T)\b|:\d{2}(?:\.\d+)? ?(?:[AP]M)? ?[+-]\d/i;
const withoutZone = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(?: ?UTC)?$/;
/** Numbers up to this are seconds (to the year 5138), larger ones ms (from 1973). */
const secondsMax = 100_000_000_000;

/** The day of a time, in UTC; undefined if unreadable. A time without a zone is read as UTC, as warehouses write it. */
export function dayOf(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || text === '') return undefined;
  // `20261122`, as a data warehouse names a day, is not a number of seconds.
  const [, ...dayParts] = dayAlone.exec(text) ?? [];
  if (dayParts.length > 0) return Number.isNaN(Date.parse(dayParts.join('-'))) ? undefined : dayParts.join('-');
  const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
  const [, day, clock] = withoutZone.exec(text) ?? [];
  const ms =
    number === undefined
      ? Date.parse(day === undefined ? withZone(text) : `${day}T${clock ?? ''}Z`)
      : number < secondsMax
        ? number * 1_000
        : number;
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString().slice(0, 10);
}

const withZone = (text: string): string => (zone.test(text) ? text : `${text} UTC`);
