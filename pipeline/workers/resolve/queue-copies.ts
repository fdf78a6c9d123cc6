import { randomUUID } from 'node:crypto';
import { endOfLine } from '../../../shared/contracts/events/frame.ts';
import type { WaitingLines } from './waiting-events.ts';

/** Of a copy. As much as a queue holds in memory and not much more, since its frames are taken one by one. */
const copyBytesMax = 128 * 1024;

/** Lines of a frame that follow each other, without the last line end. */
type Place = Pick<WaitingLines, 'bytes' | 'start' | 'end'>;

/** So many lines that are to be copied into the queue. */
type Copying = { readonly line: Buffer; readonly lines: number; onStored(): void };

const lineEnd = Buffer.from('\n');

/** Lines on their way into the queue of an account: as messages of at most 128 KiB, in their order. */
export class QueueCopies {
  /** Names its copies: those of another resolver are others, whatever they have. */
  readonly #id = randomUUID();
  readonly #publish: (payload: Buffer, msgId: string) => Promise<void>;
  #published = 0;
  #lines: Copying[] = [];
  #run: Promise<void> | undefined;

  /** `publish` resolves once the log has the message. */
  constructor(publish: (payload: Buffer, msgId: string) => Promise<void>) {
    this.#publish = publish;
  }

  /** Whether anything is on its way. */
  get isCopying(): boolean {
    return this.#lines.length > 0 || this.#run !== undefined;
  }

  /** To be copied, after what was given before. `onStored` is called once for each line, when it is in the log. */
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

  /** Copies what was given. Waits as long as the log takes none. */
  copy(): Promise<void> {
    if (!this.isCopying) return Promise.resolve();
    this.#run ??= this.#copyAll().finally(() => {
      this.#run = undefined;
    });
    return this.#run;
  }

  async #copyAll(): Promise<void> {
    while (this.#lines.length > 0) {
      const copies = this.#takeCopy();
      const payload = Buffer.concat(copies.flatMap(({ line }) => [line, lineEnd]));
      this.#published += 1;
      await this.#publish(payload, `${this.#id}.${this.#published}`);
      for (const { lines, onStored } of copies) for (let line = 0; line < lines; line += 1) onStored();
    }
  }

  /** As much of what is to be copied as one message has. */
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
