import { noMarks } from './marks.ts';
import type { ExpectedMarks } from './marks.ts';

/** One event from its client's point of view. */
export type LedgerEntry = {
  readonly visitor: number;
  /** The visitor's event number: 1, 2, 3 … */
  readonly number: number;
  /** When the event was first sent, in ms. */
  readonly sentMs: number;
  readonly marks: ExpectedMarks;
  /** When the request that was answered with 200 was sent, in ms; undefined if no request was answered with 200 yet. */
  acknowledgedSentMs?: number;
  acknowledgedMs?: number;
  /** Position among the visitor's acknowledged events, from 1: a visitor sends its next event after the answer. */
  order?: number;
};

/** A request that was not answered with 200. */
export type Refusal = {
  readonly atMs: number;
  /** HTTP status, or the error code of the connection. */
  readonly kind: string;
};

/** Records which events were sent, which of them were acknowledged with 200, and when. */
export class Ledger {
  readonly entries: LedgerEntry[] = [];
  readonly refusals: Refusal[] = [];
  /** When each request answered with 200 was sent and answered, in ms. */
  readonly answers: { readonly sentMs: number; readonly atMs: number }[] = [];
  readonly #acknowledged = new Map<number, number>();

  sent(visitor: number, number: number, sentMs: number, marks = noMarks): LedgerEntry {
    const entry: LedgerEntry = { visitor, number, sentMs, marks };
    this.entries.push(entry);
    return entry;
  }

  /** Records `entries`, in the order of their request, as acknowledged. */
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
