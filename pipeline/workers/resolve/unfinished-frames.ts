/** The frames that were taken, and for each its number of unfinished parts. */
export class UnfinishedFrames<Frame extends object> {
  /** The key is the frame object, not its sequence: a log that lost its end assigns sequences again. */
  readonly #left = new Map<object, { readonly frame: Frame; readonly number: number; left: number }>();
  #opened = 0;

  get size(): number {
    return this.#left.size;
  }

  /** The unfinished frame that was taken first. */
  get oldest(): Frame | undefined {
    return this.#first?.frame;
  }

  /** Number of frames that were taken since the oldest unfinished one, which counts too, finished or not. */
  get span(): number {
    return this.#first === undefined ? 0 : this.#opened - this.#first.number;
  }

  has(frame: object): boolean {
    return this.#left.has(frame);
  }

  /** Call when a frame was taken: it is not finished before `close` is called, even if all of its events are. */
  open(frame: Frame): void {
    this.#left.set(frame, { frame, number: this.#opened, left: 1 });
    this.#opened += 1;
  }

  /** Adds unfinished parts of a frame. */
  add(frame: object, things = 1): void {
    this.#change(frame, things);
  }

  /** Call once for each finished part of a frame; the frame is finished after its last part. */
  done(frame: object): void {
    this.#change(frame, -1);
  }

  /** Call when all parts of a frame were added. */
  close(frame: object): void {
    this.done(frame);
  }

  /** The finished frames in the order they were taken, each once. */
  takeFinished(): readonly Frame[] {
    const finished = [...this.#left.values()].filter(({ left }) => left === 0).map(({ frame }) => frame);
    for (const frame of finished) this.#left.delete(frame);
    return finished;
  }

  get #first(): { readonly frame: Frame; readonly number: number } | undefined {
    const [first] = this.#left.values();
    return first;
  }

  #change(frame: object, by: number): void {
    const entry = this.#left.get(frame);
    if (entry === undefined) throw new Error('counting the rest of a frame: it was not received, or is finished');
    if (entry.left + by < 0)
      throw new Error('counting the rest of a frame: more of its parts are finished than it has');
    entry.left += by;
  }
}
