import { endHead } from '../../../shared/contracts/events/envelope.ts';
import { textCharactersMax } from '../../payload/payload-fields.ts';
import type { PlainRow } from '../../json/scan-body.ts';

const afterId = Buffer.from('","body":');

/** Heads of the plain rows of one batch: as a rule only the id differs, and that stands in the body as it is needed. */
export class RowHeads {
  readonly #start: string;
  readonly #bytes: Buffer;
  readonly #startBytes: number;

  /** `start` is what `startHead` made for the batch. */
  constructor(start: string) {
    this.#start = start;
    const text = Buffer.from(`${start},"kind":"track","id":"`);
    this.#startBytes = text.length;
    this.#bytes = Buffer.allocUnsafe(text.length + textCharactersMax.distinctId + afterId.length);
    this.#bytes.set(text);
  }

  /** The head of a row, good until the next one is asked for. */
  of({ idStart, idEnd }: PlainRow, body: Buffer, bot: number | undefined): string | Uint8Array {
    if (bot !== undefined)
      return endHead(this.#start, { kind: 'track', id: body.toString('utf8', idStart, idEnd), bot });
    const bytes = this.#bytes;
    let at = this.#startBytes;
    // Both are so short that calls to copy them would cost more.
    for (let i = idStart; i < idEnd; i += 1, at += 1) bytes[at] = body[i] as number;
    for (let i = 0; i < afterId.length; i += 1, at += 1) bytes[at] = afterId[i] as number;
    return bytes.subarray(0, at);
  }
}
