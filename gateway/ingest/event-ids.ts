import { randomFillSync } from 'node:crypto';
import { V7Generator } from 'uuidv7';

/** Makes the id of an event that came without one; the id contains the time `atMs`, in ms since the epoch. */
export type EventIds = (atMs: number) => string;

/** Random numbers drawn at a time, because a system call costs more than the rest of an id. */
const numbersDrawn = 1024;

/** UUIDv7, ascending even within one millisecond. */
export function createEventIds(): EventIds {
  const drawn = new Uint32Array(numbersDrawn);
  let used = numbersDrawn;
  const nextUint32 = (): number => {
    if (used === numbersDrawn) {
      randomFillSync(drawn);
      used = 0;
    }
    used += 1;
    return drawn[used - 1] ?? 0;
  };
  const generator = new V7Generator({ nextUint32 });
  return (atMs) => spell(generator.generateOrResetWithTs(atMs).bytes);
}

const digits = Buffer.from('0123456789abcdef');
const spelled = Buffer.from('00000000-0000-0000-0000-000000000000');
/** Position of each byte in the text: two digits per byte, and hyphens after the 4th, 6th, 8th and 10th byte. */
const places = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/** Creates the text in one piece, because a text joined from parts would have to be flattened at its first use. */
function spell(bytes: Readonly<Uint8Array>): string {
  for (let i = 0; i < places.length; i += 1) {
    const byte = bytes[i] ?? 0;
    const place = places[i] ?? 0;
    spelled[place] = digits[byte >> 4] ?? 0;
    spelled[place + 1] = digits[byte & 15] ?? 0;
  }
  return spelled.toString('latin1');
}
