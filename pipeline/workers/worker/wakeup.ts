/** A wait that ends after a time or when `ring` is called; a ring before the wait ends it at once. */
export class Wakeup {
  #hasRung = false;
  #end: (() => void) | undefined;

  ring(): void {
    this.#hasRung = true;
    this.#end?.();
  }

  /** Waits for a ring, at most `ms`; a ring since the last wait ends it at once. Only one caller may wait at a time. */
  async wait(ms = Infinity): Promise<void> {
    if (!this.#hasRung && ms > 0) await this.#waitFor(ms);
    this.#hasRung = false;
  }

  #waitFor(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === Infinity ? undefined : setTimeout(() => this.#end?.(), ms);
      this.#end = (): void => {
        clearTimeout(timer);
        this.#end = undefined;
        resolve();
      };
    });
  }
}
