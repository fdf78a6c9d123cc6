import { noMarks } from './marks.ts';
import type { ExpectedMarks } from './marks.ts';

/** One event from its client's point of view. */
export type LedgerEntry = {
  readonly visitor: number;
  /** The visitor's event number: 1, 2, 3 … */
  readonly number: number;
  /** First send time, in ms. */
  readonly sentMs: number;
  readonly marks: ExpectedMarks;
  /** When the request that was answered 200 was sent, in ms; undefined while none was. */
  acknowledgedSentMs?: number;
  acknowledgedMs?: number;
  /** Index among the visitor's acknowledged events: a visitor sends its next event after the previous answer. */
  order?: number;
};

/** A request that was not answered with 200. */
export type Refusal = {
  readonly atMs: number;
  /** The status, or the connection's error. */
  readonly kind: string;
};

/** The events sent, the events acknowledged with 200, and the times. */
export class Ledger {
  readonly entries: LedgerEntry[] = [];
  readonly refusals: Refusal[] = [];
  /** When each request that was answered 200 had been sent and was answered. */
  readonly answers: { readonly sentMs: number; readonly atMs: number }[] = [];
  readonly #acknowledged = new Map<number, number>();

  sent(visitor: number, number: number, sentMs: number, marks = noMarks): LedgerEntry {
    const entry: LedgerEntry = { visitor, number, sentMs, marks };
    this.entries.push(entry);
    return entry;
  }

  /** `entries` are in the order of the request. */
  acknowledged(entries: readonly LedgerEntry[], sentMs: number, atMs: number): void {
    this.answers.push({ sentMs, atMs });
    for (const entry of entries) {
      const order = (this.#acknowledged.get(entry.visitor) ?? 0) + 1;
      this.#acknowledged.set(entry.visitor, order);
      entry.acknowledgedSentMs = sentMs;
      entry.acknowledgedMs = atMs;
      entry.order = order;
    }
  }

  refused(kind: string, atMs: number): void {
    this.refusals.push({ kind, atMs });
  }
}
