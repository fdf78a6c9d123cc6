import { withoutFormula } from '../api/csv.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';

const columns = [
  'eventId',
  'event',
  'time',
  'receivedAt',
  'sourceId',
  'visitorId',
  'sampleOf',
  'destinationId',
  'outcome',
  'attempts',
  'outcomeAt',
  'reason',
  'status',
  'code',
  'message',
  'eventProperties',
] as const;

/**
 * Events in the form of `viewEvent`, as CSV (RFC 4180): one row for each outcome at a destination, or a single row for
 * an event without outcomes.
 */
export function eventsCsv(entities: readonly JsonObject[]): string {
  const rows = entities.flatMap((event) => {
    const outcomes = Array.isArray(event['outcomes']) ? event['outcomes'].filter(isJsonObject) : [];
    return (outcomes.length === 0 ? [{}] : outcomes).map((outcome) => rowOf(event, outcome));
  });
  return [columns, ...rows].map((cells) => `${cells.map(cell).join(',')}\r\n`).join('');
}

function rowOf(event: JsonObject, outcome: JsonObject): unknown[] {
  const error = isJsonObject(outcome['error']) ? outcome['error'] : {};
  return [
    event['id'],
    event['event'],
    new Date(Number(event['time'])).toISOString(),
    event['receivedAt'],
    event['sourceId'],
    event['visitorId'],
    event['sampleOf'],
    outcome['destinationId'],
    outcome['outcome'],
    outcome['attempts'],
    outcome['at'],
    outcome['reason'],
    error['status'],
    error['code'],
    error['message'],
    JSON.stringify(event['eventProperties']),
  ];
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  const safe = withoutFormula(typeof value === 'string' ? value : JSON.stringify(value));
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
