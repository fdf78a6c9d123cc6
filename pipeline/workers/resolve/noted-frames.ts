/** A frame in EVENTS, with its ids, which no checkpoint has yet. */
export type NotedFrame = {
  /** Sequence of the frame in EVENTS, which is higher than that of the frame before. */
  readonly seq: number;
  readonly msgId: string;
  /** Packed hashes. */
  readonly ids: Uint8Array;
  /** When deduplication recorded the ids, in ms since the epoch. */
  readonly timeMs: number;
};

/** Frames whose ids wait for a checkpoint, in the order of the log. */
export class NotedFrames {
  readonly #frames: NotedFrame[] = [];
  #bytes = 0;

  get count(): number {
    return this.#frames.length;
  }

  /** Bytes of the ids of all frames. */
  get bytes(): number {
    return this.#bytes;
  }

  add(frame: NotedFrame): void {
    this.#frames.push(frame);
    this.#bytes += frame.ids.length;
  }

  /** The oldest frames: as many as fit into `bytesMax`, but at least one. */
  first(bytesMax: number): readonly NotedFrame[] {
    let [bytes, count] = [0, 0];
    for (const { ids } of this.#frames) {
      if (count > 0 && bytes + ids.length > bytesMax) break;
      bytes += ids.length;
      count += 1;
    }
    return this.#frames.slice(0, count);
  }

  /** Removes frames up to a sequence. */
  removeTo(seq: number): void {
    const later = this.#frames.findIndex((frame) => frame.seq > seq);
    this.#remove(later === -1 ? this.#frames.length : later);
  }

  /** Removes the older half of the frames, and returns the newest frame of that half. */
  removeOlderHalf(): NotedFrame | undefined {
    return this.#remove(Math.ceil(this.#frames.length / 2)).at(-1);
  }

  clear(): void {
    this.#remove(this.#frames.length);
  }

  #remove(count: number): readonly NotedFrame[] {
    const removed = this.#frames.splice(0, count);
    for (const { ids } of removed) this.#bytes -= ids.length;
    return removed;
  }
}
