import type { FrameOutcome, FrameWaiter } from '../../commit/frame.ts';
import type { Exchange } from '../../http/exchange.ts';
import { accepted, createReply, failure, unavailable } from '../../http/reply.ts';
import type { Reply } from '../../http/reply.ts';
import { countInvalid } from '../../ingest/published-sources.ts';
import type { EventTally } from '../../ingest/published-sources.ts';

const codes: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'unauthorized',
  403: 'forbidden',
  413: 'too_large',
  415: 'unsupported_type',
  429: 'rate_limited',
  503: 'unavailable',
};

const explained = new WeakMap<Reply, Reply>();

/**
 * Adds `code` and `message` to a refusal: RudderStack's Python library resends a request that is refused without both.
 * Other answers stay unchanged.
 */
export function explainRefusal(reply: Reply): Reply {
  if (reply.code < 400) return reply;
  const known = explained.get(reply);
  if (known !== undefined) return known;
  const said = JSON.parse(Buffer.from(reply.body).toString('utf8')) as { readonly error?: string };
  const body = { ...said, code: codes[reply.code] ?? 'internal_error', message: said.error ?? reply.status };
  const made = createReply(reply.code, Buffer.from(JSON.stringify(body)), reply);
  explained.set(reply, made);
  return made;
}

/**
 * Answers a request once the log has all of its events. These libraries expect one answer for all messages. An invalid
 * message is counted and left out if others are valid. If an event cannot be stored, the library repeats the whole
 * request; deduplication drops the stored events by their ids.
 */
export class CompatAnswer implements FrameWaiter {
  readonly #exchange: Exchange;
  readonly #tally: EventTally;
  #problem: string | undefined;
  #waiting = 0;
  #lost = 0;

  constructor(exchange: Exchange, tally: EventTally) {
    this.#exchange = exchange;
    this.#tally = tally;
  }

  invalid(problem: string): void {
    countInvalid(this.#tally, problem);
    this.#problem ??= problem;
  }

  /** Answers that none of the request's events could be passed to the log. */
  unavailable(events: number): void {
    this.#tally.lost += events;
    this.#exchange.send(unavailable);
  }

  /** Call with the number of events before the first event is sent to the log. With 0 it answers at once. */
  expect(events: number): void {
    this.#waiting = events;
    if (events === 0) this.#exchange.send(this.#problem === undefined ? accepted : failure(400, this.#problem));
  }

  frameDecided(outcome: FrameOutcome): void {
    if (outcome === 'stored') this.#tally.stored += 1;
    else {
      this.#tally.lost += 1;
      this.#lost += 1;
    }
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#exchange.send(this.#lost === 0 ? accepted : unavailable);
  }
}
