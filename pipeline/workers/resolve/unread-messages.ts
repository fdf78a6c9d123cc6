/** Counts the unread messages of a queue, and estimates their bytes. */
export class UnreadMessages {
  #count = 0;
  /** Number of unread messages that an earlier resolver copied. */
  #inherited = 0;
  /** Bytes of the unread messages that this resolver copied. */
  #copiedBytes = 0;
  #read = { messages: 0, bytes: 0 };
  #readSeq = 0;

  get isEmpty(): boolean {
    return this.#count <= 0;
  }

  /**
   * Bytes of all unread messages. The size of an earlier resolver's messages is unknown: each counts as the mean of the
   * messages that were read.
   */
  get bytes(): number {
    const { messages, bytes } = this.#read;
    return this.#copiedBytes + (this.#inherited * bytes) / Math.max(1, messages);
  }

  /** Sequence of the newest message that was read, 0 before the first. */
  get readSeq(): number {
    return this.#readSeq;
  }

  /** Adds the number of messages that an earlier resolver copied. All messages up to `readSeq` were read. */
  inherit(messages: number, readSeq: number): void {
    this.#count += messages;
    this.#inherited += messages;
    this.#readSeq = Math.max(this.#readSeq, readSeq);
  }

  copied(bytes: number): void {
    this.#count += 1;
    this.#copiedBytes += bytes;
  }

  read(seq: number, bytes: number): void {
    this.#count -= 1;
    this.#read.messages += 1;
    this.#read.bytes += bytes;
    // The queue is read in the order of the log, in which an earlier resolver's copies come first.
    if (this.#inherited > 0) this.#inherited -= 1;
    else this.#copiedBytes = Math.max(0, this.#copiedBytes - bytes);
    this.#readSeq = Math.max(this.#readSeq, seq);
  }
}
