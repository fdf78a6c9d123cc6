import type { LogMessage } from '../messages/log-message.ts';

/** Messages pulled and not yet taken, in order, and the reader that waits for them. */
export class PulledMessages {
  #messages: LogMessage[] = [];
  #bytes = 0;
  #wake: (() => void) | undefined;

  get count(): number {
    return this.#messages.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isAwaited(): boolean {
    return this.#wake !== undefined;
  }

  push(message: LogMessage): void {
    this.#messages.push(message);
    this.#bytes += message.data.length;
  }

  take(max: number): LogMessage[] {
    const taken = this.#messages.splice(0, max);
    for (const { data } of taken) this.#bytes -= data.length;
    return taken;
  }

  untilWoken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Wakes the reader, which then checks whether a message is buffered. */
  wake(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
