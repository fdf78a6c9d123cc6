import { Agent, request } from 'undici';
import { sleep } from '../machine/wait-until.ts';
import type { LedgerEntry } from './judge/ledger.ts';
import { Ledger } from './judge/ledger.ts';
import type { Route, VisitorRequest } from './stack/visitor-events.ts';
import { expectedMarks, visitorRequest } from './stack/visitor-events.ts';

export type LoadOptions = {
  readonly url: string;
  /** The source key, read before each request, because a fault may replace it. */
  token(): string;
  readonly visitors: number;
  /** Events per second of all visitors together, while requests are answered. */
  readonly ratePerS: number;
  readonly seed: number;
};

/** Visitors that send until `stop`. */
export type Load = {
  readonly ledger: Ledger;
  /** Sends no new requests; resolves when the requests in flight have been answered or have timed out. */
  stop(): Promise<void>;
};

const answerDeadlineMs = 5_000;
const againAfterMs = 100;
const batchRows = 3;

/**
 * Starts numbered visitors that each send their events in sequence, as two kinds of clients: visitors with even numbers
 * set event ids and retry until a 200; the others do not retry, and leave ids to the gateway where that is possible.
 */
export function startLoad({ url, token, visitors, ratePerS, seed }: LoadOptions): Load {
  const ledger = new Ledger();
  const stopping = new AbortController();
  const agent = new Agent({ connections: visitors, pipelining: 1, connect: { timeout: answerDeadlineMs } });
  const everyMs = (visitors * 1_000) / ratePerS;
  const isOver = (): boolean => stopping.signal.aborted;

  const deliver = async (
    write: () => VisitorRequest,
    entries: readonly LedgerEntry[],
    isRepeated: boolean,
  ): Promise<void> => {
    let open = entries;
    while (!isOver()) {
      const sentMs = performance.now();
      const answer = await send(agent, url, write());
      const atMs = performance.now();
      const accepted = open.filter((entry) => answer.accepted(entries.indexOf(entry)));
      if (accepted.length > 0) ledger.acknowledged(accepted, sentMs, atMs);
      open = open.filter((entry) => !accepted.includes(entry));
      if (open.length === 0) return;
      ledger.refused(answer.kind, atMs);
      await sleep(againAfterMs);
      if (!isRepeated) return;
    }
  };

  const visit = async (visitor: number): Promise<void> => {
    const random = createRandom(seed * 1_000 + visitor);
    const isNamed = visitor % 2 === 0;
    let dueMs = performance.now() + random() * everyMs;
    for (let next = 1; !isOver();) {
      await sleep(Math.max(0, dueMs - performance.now()));
      if (isOver()) return;
      const route = chooseRoute(random());
      const numbers = Array.from({ length: route === 'batch' ? batchRows : 1 }, (_, index) => next + index);
      const sentMs = performance.now();
      const entries = numbers.map((number) =>
        ledger.sent(visitor, number, sentMs, expectedMarks(seed, route, visitor, number)),
      );
      await deliver(
        () => visitorRequest({ token: token(), seed, route, visitor, numbers, isNamed }),
        entries,
        // An identify has no id, so a retry would be a new event.
        isNamed && route !== 'identify',
      );
      next += numbers.length;
      // Requests missed during an outage are not sent later.
      dueMs = Math.max(dueMs + everyMs * numbers.length, performance.now());
    }
  };

  const visiting = Promise.all(Array.from({ length: visitors }, (_, index) => visit(index + 1)));
  return {
    ledger,
    async stop() {
      stopping.abort();
      await visiting;
      await agent.destroy();
    },
  };
}

function chooseRoute(random: number): Route {
  if (random < 0.6) return 'track';
  if (random < 0.8) return 'pixel';
  return random < 0.95 ? 'batch' : 'identify';
}

type Answer = { readonly kind: string; accepted(row: number): boolean };

async function send(agent: Agent, url: string, { method, path, body }: VisitorRequest): Promise<Answer> {
  try {
    const answer = await request(url + path, {
      dispatcher: agent,
      method,
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(answerDeadlineMs),
    });
    const kind = String(answer.statusCode);
    if (answer.statusCode !== 207) {
      await answer.body.dump();
      return { kind, accepted: () => answer.statusCode === 200 };
    }
    const { results } = (await answer.body.json()) as { readonly results: readonly { readonly success?: boolean }[] };
    return { kind, accepted: (row) => results[row]?.success === true };
  } catch (error) {
    return { kind: describe(error), accepted: () => false };
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'no answer';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** Pseudo-random numbers in [0, 1) (mulberry32), the same for the same seed, so that a run can be repeated. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
