import { BodyScan, scanBody } from './scan-body.ts';
import { trackPayload } from '../payload/track-payload.ts';

/** Fields of the API: answers repeat no other name that a client sends. */
const knownFields: ReadonlySet<string> = new Set([...Object.keys(trackPayload.Type().properties), 'events']);

/** The field of the body scanned last that nests deepest; undefined where the API does not know it. */
export function deepField({ deepStart, deepEnd }: BodyScan, body: Buffer): string | undefined {
  const name = deepStart < 0 ? '' : body.toString('latin1', deepStart, deepEnd);
  return knownFields.has(name) ? name : undefined;
}

// Of rows that are refused only: the scan of a batch does not tell their fields apart.
const rowScan = new BodyScan();

/** The same of a row of a batch. */
export function deepFieldOfRow(row: Buffer): string | undefined {
  scanBody(rowScan, row);
  return deepField(rowScan, row);
}
