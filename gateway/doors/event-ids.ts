import { randomFillSync } from 'node:crypto';
import { V7Generator } from 'uuidv7';

/** Makes the ids of events that come without one; `atMs` since the epoch is the time they carry. */
export type EventIds = (atMs: number) => string;

/** Numbers drawn at a time: asking the system for them costs more than all the rest of an id. */
const numbersDrawn = 1024;

/** UUIDv7: they rise, also within one millisecond. */
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
  return (atMs) => generator.generateOrResetWithTs(atMs).toString();
}
