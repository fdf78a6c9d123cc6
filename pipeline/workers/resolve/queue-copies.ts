import { randomUUID } from 'node:crypto';
import { endOfLine } from '../../../shared/contracts/events/frame.ts';
import type { WaitingLines } from './waiting-events.ts';

/**
 * Size limit of a copy, in bytes, unless it is one larger line: with small messages a queue keeps little more in memory
 * than its limit.
 */
const copyBytesMax = 128 * 1024;

/** Where consecutive lines of a frame are, without the last line end. */
type Place = Pick<WaitingLines, 'bytes' | 'start' | 'end'>;

/** Consecutive lines to be copied into the queue. */
type Copying = { readonly line: Buffer; readonly lines: number; onStored(): void };

const lineEnd = Buffer.from('\n');

/** Copies lines to the queue of an account, in order, as messages of at most 128 KiB or of one larger line. */
export class QueueCopies {
  /** Begins the message ids of this resolver's copies, so that copies of another resolver have other ids. */
  readonly #id = randomUUID();
  readonly #publish: (payload: Buffer, msgId: string) => Promise<void>;
  #published = 0;
  #lines: Copying[] = [];
  #run: Promise<void> | undefined;

  /** `publish` resolves once the log has the message. */
  constructor(publish: (payload: Buffer, msgId: string) => Promise<void>) {
    this.#publish = publish;
  }

  /** Whether lines wait to be copied or are being copied. */
  get isCopying(): boolean {
    return this.#lines.length > 0 || this.#run !== undefined;
  }

  /** Adds lines to be copied after earlier ones. `onStored` is called once for each line, when the log has it. */
  add({ bytes, start: from, end: to }: Place, onStored: () => void): void {
    for (let start = from; start < to;) {
      let [end, lines] = [endOfLine(bytes, start), 1];
      for (; end < to; lines += 1) {
        const next = endOfLine(bytes, end + 1);
        if (next - start > copyBytesMax) break;
        end = next;
      }
      this.#lines.push({ line: bytes.subarray(start, end), lines, onStored });
      start = end + 1;
    }
  }

  /** Copies the added lines to the queue's subject. Waits as long as the log refuses them. */
  copy(): Promise<void> {
    if (!this.isCopying) return Promise.resolve();
    this.#run ??= this.#copyAll();
    return this.#run;
  }

  async #copyAll(): Promise<void> {
    try {
      while (this.#lines.length > 0) {
        const copies = this.#takeCopy();
        const payload = Buffer.concat(copies.flatMap(({ line }) => [line, lineEnd]));
        this.#published += 1;
        await this.#publish(payload, `${this.#id}.${this.#published}`);
        for (const { lines, onStored } of copies) for (let line = 0; line < lines; line += 1) onStored();
      }
    } finally {
      // In the same turn as the last check: lines that are added later need another run.
      this.#run = undefined;
    }
  }

  /** The lines of the next message. */
  #takeCopy(): readonly Copying[] {
    let [bytes, count] = [0, 0];
    for (const { line } of this.#lines) {
      bytes += line.length + 1;
      if (count > 0 && bytes > copyBytesMax) break;
      count += 1;
    }
    return this.#lines.splice(0, count);
  }
}
