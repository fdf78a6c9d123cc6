/** The messages of a queue that were not read yet, and how large they are. */
export class UnreadMessages {
  #count = 0;
  /** Those of them that an earlier resolver copied. */
  #inherited = 0;
  /** Bytes of the others. */
  #copiedBytes = 0;
  #read = { messages: 0, bytes: 0 };
  #readSeq = 0;

  get isEmpty(): boolean {
    return this.#count <= 0;
  }

  /** The log does not say how large those of an earlier resolver are: they count as the mean of what was read. */
  get bytes(): number {
    const { messages, bytes } = this.#read;
    return this.#copiedBytes + (this.#inherited * bytes) / Math.max(1, messages);
  }

  /** Sequence of the newest that was read, 0 before the first. */
  get readSeq(): number {
    return this.#readSeq;
  }

  /** An earlier resolver copied so many. */
  inherit(messages: number): void {
    this.#count += messages;
    this.#inherited += messages;
  }

  copied(bytes: number): void {
    this.#count += 1;
    this.#copiedBytes += bytes;
  }

  read(seq: number, bytes: number): void {
    this.#count -= 1;
    this.#read.messages += 1;
    this.#read.bytes += bytes;
    // Read in the order of the log: what an earlier resolver copied comes first.
    if (this.#inherited > 0) this.#inherited -= 1;
    else this.#copiedBytes = Math.max(0, this.#copiedBytes - bytes);
    this.#readSeq = Math.max(this.#readSeq, seq);
  }
}
