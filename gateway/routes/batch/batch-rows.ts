import { parseExact } from '../../../shared/json/exact-numbers.ts';
import { isUtf8 } from 'node:buffer';
import type { BatchRow } from '../../payload/payloads.ts';
import { batchRow } from '../../payload/payloads.ts';
import { describeProblem } from '../../payload/describe-problem.ts';
import type { BodyScan, PlainRow, RowScan } from '../../payload/scan-body.ts';
import type { TimeWindow } from '../../payload/time-window.ts';
import { isWithinWindow } from '../../payload/time-window.ts';
import type { JsonLimits } from '../../payload/read-json.ts';
import { deepFieldOfRow, hasForbiddenKey } from '../../payload/read-json.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';

export type RowLimits = JsonLimits & { readonly bytesMax: number; readonly timeWindow: TimeWindow };

/** A row, or why it is not accepted. */
export type CheckedRow =
  | { readonly row: BatchRow | PlainRow; readonly problem?: undefined }
  | { readonly problem: string };

/** The checks of the rows of a batch. `utf8`: whether the whole body is known to be UTF-8. */
export type CheckedBatch = {
  readonly body: Buffer;
  readonly utf8: boolean;
  readonly limits: RowLimits;
  readonly nowMs: number;
};

/** Checks one row of a batch. For a plain row, `value` is not used. */
export function checkRow(value: unknown, scanned: RowScan, { body, utf8, limits, nowMs }: CheckedBatch): CheckedRow {
  const { facts } = scanned;
  if (scanned.end - scanned.start > limits.bytesMax) return { problem: `is larger than ${limits.bytesMax} bytes` };
  if (facts.depth > limits.depthMax) {
    const field = deepFieldOfRow(body.subarray(scanned.start, scanned.end));
    return { problem: `${field === undefined ? '' : `${field} `}nests deeper than ${limits.depthMax} levels` };
  }
  if (facts.keys > limits.keysMax) return { problem: `has more than ${limits.keysMax} keys` };
  if (facts.nulls) return { problem: 'contains a null character' };
  if (!utf8 && !isUtf8(body.subarray(scanned.start, scanned.end))) return { problem: 'is not valid UTF-8' };
  if (scanned.isPlain) return timely(scanned.plain, nowMs, limits);
  if (!batchRow.Check(value)) return { problem: describeProblem(batchRow, value, 'the row') };
  if (facts.suspicious && hasForbiddenKey(value)) return { problem: 'contains a forbidden key' };
  return timely(value, nowMs, limits);
}

function timely(row: BatchRow | PlainRow, nowMs: number, { timeWindow }: RowLimits): CheckedRow {
  if (isWithinWindow(row.time, nowMs, timeWindow)) return { row };
  return { problem: 'time lies outside the window in which events are accepted' };
}

/** Whether a body is UTF-8 outside of its rows: then only the rows that are not UTF-8 are refused. */
export function isUtf8Outside(scan: BodyScan, body: Buffer): boolean {
  const first = scan.rows[0];
  const last = scan.rows[scan.rowCount - 1];
  if (scan.rowCount === 0 || first === undefined || last === undefined) return isUtf8(body);
  return isUtf8(body.subarray(0, first.start)) && isUtf8(body.subarray(last.end));
}

/** A batch as JSON. */
export type ParsedBatch = {
  /** The body with an empty array for its rows. */
  readonly top: JsonObject;
  /** Parsed rows by index. Plain rows, whose fields the scan has, and rows beyond the scan's limit are left out. */
  readonly rows: readonly unknown[];
};

const firstNonAscii = 0x80;

/** Parses the parts of a body that its scan did not read; undefined if the body is not JSON. */
export function parseBatch(scan: BodyScan, body: Buffer): ParsedBatch | undefined {
  const { facts, rowsStart, rowsEnd, rows, rowCount } = scan;
  const encoding = facts.bits < firstNonAscii ? 'latin1' : 'utf8';
  const values: unknown[] = [];
  try {
    const top = parseExact(
      rowsEnd < 0 ? body.toString(encoding) : body.toString(encoding, 0, rowsStart) + body.toString(encoding, rowsEnd),
    );
    for (const [index, { isPlain, start, end }] of rows.entries()) {
      if (index >= rowCount) break;
      values.push(isPlain ? undefined : JSON.parse(body.toString(encoding, start, end)));
    }
    return isJsonObject(top) ? { top, rows: values } : undefined;
  } catch {
    return undefined;
  }
}
