import type { Delivery } from '../../../shared/nats/messages/delivery.ts';

/** The frames an actor has taken and not finished. */
export class FramesInWork {
  readonly #frames = new Set<Delivery>();
  readonly #touchEveryMs: number;

  /** The log gives a frame to somebody else after `ackWaitMs` without a word from us. */
  constructor(ackWaitMs: number) {
    this.#touchEveryMs = ackWaitMs / 3;
  }

  taken(deliveries: readonly Delivery[]): void {
    for (const delivery of deliveries) this.#frames.add(delivery);
  }

  finished(delivery: Delivery): void {
    delivery.ack();
    this.#frames.delete(delivery);
  }

  /**
   * Runs an actor's work to its end: however long it waits for something, what was taken stays ours meanwhile. Then
   * closes what the work needed; what is left comes first with the next actor. A failure after `signal` was aborted is
   * the end asked for.
   */
  async during(work: () => Promise<void>, signal: AbortSignal, close: () => Promise<unknown>): Promise<void> {
    const pulse = setInterval(() => {
      for (const delivery of this.#frames) delivery.working();
    }, this.#touchEveryMs);
    try {
      await work();
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      clearInterval(pulse);
      await close();
    }
  }
}
