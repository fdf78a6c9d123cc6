/** Frames that were taken, and how much of each is not yet where it belongs. */
export class UnfinishedFrames<Frame extends object> {
  /** By the frames themselves: a log that was cut gives sequences out again. */
  readonly #left = new Map<object, { readonly frame: Frame; left: number }>();

  get size(): number {
    return this.#left.size;
  }

  has(frame: object): boolean {
    return this.#left.has(frame);
  }

  /** The frame was taken: it is not finished before `close` is called, whatever became of its events. */
  open(frame: Frame): void {
    this.#left.set(frame, { frame, left: 1 });
  }

  /** One more thing of a frame, or so many more, are to be brought where they belong. */
  add(frame: object, things = 1): void {
    this.#change(frame, things);
  }

  /** It is there. */
  done(frame: object): void {
    this.#change(frame, -1);
  }

  /** All there is of a frame was added. */
  close(frame: object): void {
    this.done(frame);
  }

  /** Those of which all is where it belongs, in the order they were taken, once. */
  takeFinished(): readonly Frame[] {
    const finished = [...this.#left.values()].filter(({ left }) => left === 0).map(({ frame }) => frame);
    for (const frame of finished) this.#left.delete(frame);
    return finished;
  }

  #change(frame: object, by: number): void {
    const entry = this.#left.get(frame);
    if (entry === undefined) throw new Error('counting what is left of a frame: it was not taken, or is finished');
    entry.left += by;
  }
}
