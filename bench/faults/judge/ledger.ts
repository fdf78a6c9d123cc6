import { noMarks } from './marks.ts';
import type { ExpectedMarks } from './marks.ts';

/** One event as its client knows it. */
export type LedgerEntry = {
  readonly visitor: number;
  /** Of the visitor's events: 1, 2, 3 … */
  readonly number: number;
  /** When it was sent first, in ms. */
  readonly sentMs: number;
  readonly marks: ExpectedMarks;
  /** When the request that was answered 200 was sent, in ms; undefined while none was. */
  acknowledgedSentMs?: number;
  acknowledgedMs?: number;
  /** Place among the visitor's acknowledged events: a visitor sends its next one after the answer of the one before. */
  order?: number;
};

/** A request that was not answered with 200. */
export type Refusal = {
  readonly atMs: number;
  /** The status, or what became of the connection. */
  readonly kind: string;
};

/** What was sent, what of it was answered 200, and when. */
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

  /** `entries` are in the order in which they stood in the request. */
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
