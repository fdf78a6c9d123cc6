import type { BodyScan } from '../../json/scan-body.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';

/** A batch as JSON. */
export type ParsedBatch = {
  /** The body with an empty array for its rows. */
  readonly top: JsonObject;
  /** Rows by index, but for plain ones, of which the scan has all there is to know, and those beyond its limit. */
  readonly rows: readonly unknown[];
};

const firstNonAscii = 0x80;

/** Parses what the scan of a body left to be parsed; undefined when the body is not JSON. */
export function parseBatch(scan: BodyScan, body: Buffer): ParsedBatch | undefined {
  const { facts, rowsStart, rowsEnd, rows, rowCount } = scan;
  const encoding = facts.bits < firstNonAscii ? 'latin1' : 'utf8';
  const values: unknown[] = [];
  try {
    const top: unknown = JSON.parse(
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
