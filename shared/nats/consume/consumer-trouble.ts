/** Why messages do not reach their reader. `lastsMs`: how long the trouble has lasted; 0 in the first report. */
export type ConsumerTrouble =
  /**
   * No server answers for the consumer: it has no leader now, or was deleted. The reader checks which of the two
   * applies.
   */
  | { readonly kind: 'unanswered'; readonly reason: string; readonly lastsMs: number }
  /** A request to the log failed. It is repeated. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly lastsMs: number }
  /** The server sent messages that did not arrive. They are requested again. */
  | { readonly kind: 'missed' }
  /** The consumer was missing, and has been created again. */
  | { readonly kind: 'recreated' };

/** Reports the trouble of one consumer, and how long it has lasted. */
export class TroubleReports {
  readonly #report: ((trouble: ConsumerTrouble) => void) | undefined;
  #sinceMs: number | undefined;

  constructor(report: ((trouble: ConsumerTrouble) => void) | undefined) {
    this.#report = report;
  }

  /** The server answers for the consumer again; a later failure begins a new trouble. */
  over(): void {
    this.#sinceMs = undefined;
  }

  unanswered(reason: string): void {
    this.#report?.({ kind: 'unanswered', reason, lastsMs: this.#lastsMs() });
  }

  failed(error: unknown): void {
    this.#report?.({ kind: 'failed', error, lastsMs: this.#lastsMs() });
  }

  missed(): void {
    this.#report?.({ kind: 'missed' });
  }

  recreated(): void {
    this.#report?.({ kind: 'recreated' });
  }

  #lastsMs(): number {
    const nowMs = performance.now();
    this.#sinceMs ??= nowMs;
    return nowMs - this.#sinceMs;
  }
}
