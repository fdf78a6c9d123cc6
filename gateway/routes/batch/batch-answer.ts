import type { FrameOutcome, FrameWaiter } from '../../commit/frame.ts';
import { countInvalid } from '../../ingest/published-sources.ts';
import type { EventTally } from '../../ingest/published-sources.ts';
import type { Exchange } from '../../http/exchange.ts';
import { accepted, createReply, retryAfterS } from '../../http/reply.ts';
import type { Reply } from '../../http/reply.ts';

const jsonType = ['content-type', 'application/json'] as const;
const retryAfter = ['retry-after', String(retryAfterS)] as const;
const queueFailedMessage = 'the row could not be stored; try again';

/** Collects the outcomes of a batch's rows and answers once all are known. */
export class BatchAnswer implements FrameWaiter {
  readonly #exchange: Exchange;
  readonly #tally: EventTally;
  readonly #rowCount: number;
  /** Rows that failed, with their part of the answer. */
  readonly #failed = new Map<number, string>();
  #invalidCount = 0;
  #waiting = 0;

  constructor(exchange: Exchange, tally: EventTally, rowCount: number) {
    this.#exchange = exchange;
    this.#tally = tally;
    this.#rowCount = rowCount;
  }

  rowInvalid(index: number, message: string): void {
    this.#invalidCount += 1;
    countInvalid(this.#tally, `row ${index}: ${message}`);
    this.#failed.set(index, failedRow(index, 'invalid_event', message));
  }

  rowLost(index: number): void {
    this.#tally.lost += 1;
    this.#failed.set(index, failedRow(index, 'queue_failed', queueFailedMessage));
  }

  /** Call with the number of rows for the log, before the first one is appended. */
  expect(rows: number): void {
    this.#waiting += rows;
  }

  frameDecided(outcome: FrameOutcome, index: number): void {
    if (outcome === 'stored') this.#tally.stored += 1;
    else this.rowLost(index);
    this.#waiting -= 1;
    if (this.#waiting === 0) this.send();
  }

  /** Answers with the known outcomes of the rows. */
  send(): void {
    this.#exchange.send(this.#reply());
  }

  #reply(): Reply {
    const failed = this.#failed.size;
    const stored = this.#rowCount - failed;
    if (failed === 0) return json(200, `{"success":true,"accepted":${stored},"failed":0,"results":${this.#results()}}`);
    if (stored > 0) {
      return json(207, `{"success":false,"accepted":${stored},"failed":${failed},"results":${this.#results()}}`);
    }
    if (this.#invalidCount === failed) {
      const error = 'no row is valid';
      return json(400, `{"success":false,"error":"${error}","retryable":false,"results":${this.#results()}}`);
    }
    const error = 'the rows could not be stored; try again';
    const body = `{"success":false,"error":"${error}","retryable":true,"results":${this.#results()}}`;
    return createReply(503, Buffer.from(body), { headers: [jsonType, retryAfter] });
  }

  #results(): string {
    let text = '[';
    for (let index = 0; index < this.#rowCount; index += 1) {
      if (index > 0) text += ',';
      text += this.#failed.get(index) ?? `{"index":${index},"success":true}`;
    }
    return `${text}]`;
  }
}

const failedRow = (index: number, code: 'invalid_event' | 'queue_failed', message: string): string =>
  JSON.stringify({ index, success: false, code, message });

const json = (code: number, body: string): Reply => createReply(code, Buffer.from(body), { headers: accepted.headers });
