import type { Dispatcher } from 'undici';
import { Agent, errors } from 'undici';
import type { OutboundAnswer, OutboundRequest } from '../destinations/sdk/destination.ts';
import { AnswerReader, SendTimeoutError } from './answer-reader.ts';
import { Deadlines } from './deadlines.ts';
import type { EgressRules } from './egress-rules.ts';
import { EgressError } from './egress-rules.ts';
import { createGuardedConnector } from './guarded-lookup.ts';
import type { createGuardedLookup } from './guarded-lookup.ts';

export type SenderLimits = {
  readonly connectionsMax: number;
  readonly connectTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** From the first byte out to the last byte in. */
  readonly totalTimeoutMs: number;
};

/**
 * Why there is no answer: the rules forbid the address, the request cannot be sent as it is, the destination was too slow,
 * or the connection was not made or broke.
 */
export type SendFailure = 'blocked' | 'invalid' | 'timeout' | 'connection';

export type SendResult =
  | { readonly kind: 'answered'; readonly answer: OutboundAnswer }
  /**
   * No answer; `permanent` when another attempt would end the same way. `reason` is for people. `refusesAccess`: nothing
   * was sent, for the platform gives out no token to the destination.
   */
  | {
      readonly kind: 'failed';
      readonly failure: SendFailure;
      readonly reason: string;
      readonly permanent: boolean;
      readonly refusesAccess?: true;
    };

/** Sends the requests of one destination over its own kept connections. Redirects are not followed. */
export type Sender = {
  send(request: OutboundRequest): Promise<SendResult>;
  /** Ends all connections, in-flight requests with them. */
  close(): Promise<void>;
};

export type SenderOptions = {
  readonly rules: EgressRules;
  readonly lookupFor: ReturnType<typeof createGuardedLookup>;
  readonly limits: SenderLimits;
};

export function createSender({ rules, lookupFor, limits }: SenderOptions): Sender {
  // Made with the first request: a destination that gets no events costs no agent.
  let agent: Agent | undefined;
  const deadlines = new Deadlines(limits.totalTimeoutMs);
  const open = (): Agent =>
    new Agent({
      connections: limits.connectionsMax,
      pipelining: 1,
      connect: createGuardedConnector(rules, lookupFor, limits.connectTimeoutMs),
      // Both the same: the client makes a new timer whenever the time it waits for changes.
      headersTimeout: limits.headersTimeoutMs,
      bodyTimeout: limits.headersTimeoutMs,
    });
  return {
    send: (request) =>
      new Promise((resolve) => {
        agent ??= open();
        try {
          dispatch(agent, request, deadlines, resolve);
        } catch (error) {
          resolve(failureOf(error));
        }
      }),
    close: async () => {
      await agent?.destroy();
      deadlines.stop();
    },
  };
}

function dispatch(
  agent: Dispatcher,
  request: OutboundRequest,
  deadlines: Deadlines,
  settle: (result: SendResult) => void,
): void {
  const url = parseUrl(request.url);
  if (url === undefined) throw new errors.InvalidArgumentError('the URL cannot be used');
  const reader = new AnswerReader(deadlines, (answer, error) => {
    settle(answer === undefined ? failureOf(error) : { kind: 'answered', answer });
  });
  agent.dispatch(
    {
      origin: url.origin,
      path: url.path,
      method: request.method,
      headers: request.headers,
      body: request.body ?? null,
    },
    reader,
  );
}

function failureOf(error: unknown): SendResult {
  if (error instanceof EgressError) return { kind: 'failed', failure: 'blocked', reason: error.code, permanent: true };
  if (error instanceof errors.InvalidArgumentError) {
    return { kind: 'failed', failure: 'invalid', reason: 'invalid_request', permanent: true };
  }
  const code = error instanceof Error ? codeOf(error) : 'unknown';
  return {
    kind: 'failed',
    failure: isTimeout(error) ? 'timeout' : 'connection',
    reason: `network ${code}`,
    permanent: false,
  };
}

function isTimeout(error: unknown): boolean {
  return (
    error instanceof SendTimeoutError ||
    error instanceof errors.ConnectTimeoutError ||
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.BodyTimeoutError
  );
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** The parts of a URL a request is made of. */
type ParsedUrl = { readonly origin: string; readonly host: string; readonly path: string };

const keptMax = 1_000;
const kept = new Map<string, ParsedUrl | undefined>();

/** Parses a URL; undefined when it is none. A destination's URL is nearly always the same, so answers are kept. */
export function parseUrl(text: string): ParsedUrl | undefined {
  if (kept.has(text)) return kept.get(text);
  if (kept.size >= keptMax) kept.clear();
  const parsed = URL.canParse(text) ? partsOf(new URL(text)) : undefined;
  kept.set(text, parsed);
  return parsed;
}

function partsOf({ origin, host, pathname, search }: URL): ParsedUrl {
  return { origin, host, path: pathname + search };
}
