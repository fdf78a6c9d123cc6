import { decodeJson, encodeJson, isJsonObject } from '../../runtime/json.ts';

/** Lines that are settled, by the sequence of their frame. */
export type SettledLines = ReadonlyMap<number, readonly number[]>;

export function encodeSettledNote(settled: SettledLines): Uint8Array {
  return encodeJson({ v: 1, settled: [...settled] });
}

/** What a note cannot say is sent again, so nothing of a note that this build does not know is believed. */
export function decodeSettledNote(data: Uint8Array): SettledLines {
  const note = decodeJson(data);
  const entries: readonly unknown[] =
    isJsonObject(note) && note['v'] === 1 && Array.isArray(note['settled']) ? note['settled'] : [];
  const settled = new Map<number, readonly number[]>();
  for (const entry of entries) {
    if (!Array.isArray(entry)) continue;
    const [seq, lines] = entry as readonly unknown[];
    if (typeof seq === 'number' && isLines(lines)) settled.set(seq, lines);
  }
  return settled;
}

function isLines(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((line) => typeof line === 'number');
}
