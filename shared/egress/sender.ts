import type { OutboundAnswer, OutboundRequest } from './outbound.ts';
import { Deadlines } from './deadlines.ts';
import type { Deadline, Timed } from './deadlines.ts';
import { hasDotSegment } from './dot-segment.ts';
import type { EgressRules } from './egress-rules.ts';
import { createGuardedConnector } from './guarded-lookup.ts';
import type { createGuardedLookup } from './guarded-lookup.ts';
import { OriginConnections } from './origin-connections.ts';
import type { Exchange } from './origin-connections.ts';
import { failureOf, SenderClosedError, SendTimeoutError, WithdrawnError } from './send-result.ts';
import type { SendResult } from './send-result.ts';
import { InvalidRequestError, writeRequest } from './write-request.ts';
import type { WrittenRequest } from './write-request.ts';

export type SenderLimits = {
  /** Maximum connections to one origin per group. Each sender of the group may have one connection beyond the limit. */
  readonly connectionsMax: number;
  readonly connectTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** Time from when a request leaves the queue, before a connection is opened for it, to the last byte received. */
  readonly totalTimeoutMs: number;
};

export type { SendFailure, SendResult } from './send-result.ts';

/** Sends requests over persistent connections. Redirects are not followed. */
export type Sender = {
  /**
   * `mayBegin` is called before the first byte is sent, which may be long after the call of `send`; if it returns
   * false, the request is withdrawn. Never rejects.
   */
  send(request: OutboundRequest, mayBegin?: () => boolean): Promise<SendResult>;
  /** Ends the sender's requests, the connections in use by them, and all connections that no other sender shares. */
  close(): Promise<void>;
};

export type SenderOptions = {
  readonly rules: EgressRules;
  readonly lookupFor: ReturnType<typeof createGuardedLookup>;
  readonly limits: SenderLimits;
};

/** Senders that share connections. */
export type Senders = {
  /**
   * A sender that shares its connections to an origin with the other senders of its group. They have to trust each
   * other, because a forged request of one sender could make the server misread the start of another sender's request.
   */
  create(group: string): Sender;
};

const always = (): boolean => true;

/** A sender with connections of its own. */
export function createSender(options: SenderOptions): Sender {
  return createSenders(options).create('');
}

export function createSenders({ rules, lookupFor, limits }: SenderOptions): Senders {
  const connector = createGuardedConnector(rules, lookupFor, limits.connectTimeoutMs);
  const deadlines = new Deadlines(limits.totalTimeoutMs);
  const silences = new Deadlines(limits.headersTimeoutMs);
  const groups = new Map<string, Group>();
  const open = ({ protocol, hostname, host, port, origin }: ParsedUrl, { origins }: Group): OriginConnections => {
    const made: OriginConnections = new OriginConnections({
      connect: (connected) =>
        connector({ protocol, hostname, host, port }, (...[error, socket]) => connected(error, socket)),
      connectionsMax: limits.connectionsMax,
      silences,
      onEmpty: () => {
        if (origins.get(origin) === made) origins.delete(origin);
      },
    });
    origins.set(origin, made);
    return made;
  };
  return {
    create(groupName) {
      const group = groups.get(groupName) ?? { origins: new Map(), senders: 0 };
      groups.set(groupName, group);
      group.senders += 1;
      let isClosed = false;
      const sender: Sender = {
        send: (request, mayBegin = always) =>
          new Promise((resolve) => {
            try {
              if (isClosed) throw new SenderClosedError('sending: the sender is closed');
              if (!mayBegin()) throw new WithdrawnError('sending: the request was withdrawn');
              const url = parseUrl(request.url);
              if (url === undefined || !isHttp(url))
                throw new InvalidRequestError(
                  'invalid request: the URL is not an http or https URL, or has . or .. in its path',
                );
              const written = writeRequest(request, url);
              const connections = group.origins.get(url.origin) ?? open(url, group);
              connections.send(sender, new Sending(written, { deadlines, connections, mayBegin, settle: resolve }));
            } catch (error) {
              resolve(failureOf(error));
            }
          }),
        close: () => {
          if (isClosed) return Promise.resolve();
          isClosed = true;
          const left = [...group.origins.values()].flatMap((connections) => connections.leave(sender));
          for (const exchange of left) exchange.failed(new SenderClosedError('sending: the sender was closed'));
          group.senders -= 1;
          if (group.senders === 0) groups.delete(groupName);
          if (groups.size === 0) {
            deadlines.stop();
            silences.stop();
          }
          return Promise.resolve();
        },
      };
      return sender;
    },
  };
}

type Group = { readonly origins: Map<string, OriginConnections>; senders: number };

type SendingOptions = {
  readonly deadlines: Deadlines;
  readonly connections: OriginConnections;
  readonly mayBegin: () => boolean;
  readonly settle: (result: SendResult) => void;
};

/** One request, which settles once. Its timeout starts when the request leaves the queue. */
class Sending implements Exchange, Timed {
  readonly request: WrittenRequest;
  readonly #options: SendingOptions;
  #deadline: Deadline | undefined;
  #isSettled = false;

  constructor(request: WrittenRequest, options: SendingOptions) {
    this.request = request;
    this.#options = options;
  }

  begun(): void {
    this.#deadline ??= this.#options.deadlines.begin(this);
  }

  mayBegin(): boolean {
    if (!this.#isSettled && !this.#options.mayBegin()) {
      this.failed(new WithdrawnError('sending: the request was withdrawn'));
    }
    return !this.#isSettled;
  }

  answered(answer: OutboundAnswer): void {
    this.#settle({ kind: 'answered', answer });
  }

  failed(error: unknown): void {
    if (!this.#isSettled) this.#settle(failureOf(error));
  }

  expire(): void {
    this.failed(new SendTimeoutError('sending: no whole answer in time'));
    this.#options.connections.giveUp(this);
  }

  #settle(result: SendResult): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    if (this.#deadline !== undefined) this.#options.deadlines.end(this.#deadline);
    this.#options.settle(result);
  }
}

/** The parts of a URL that a request and its connection need. */
type ParsedUrl = {
  readonly origin: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly host: string;
  /** Empty for the protocol's default port. */
  readonly port: string;
  readonly path: string;
};

const keptMax = 1_000;
const kept = new Map<string, ParsedUrl | undefined>();

const isHttp = ({ protocol }: ParsedUrl): boolean => protocol === 'http:' || protocol === 'https:';

/**
 * Parses a URL of any protocol; undefined if it is invalid, has no host, or has `.` or `..` in its path. A destination's URL is nearly always the
 * same, so results are cached.
 */
export function parseUrl(text: string): ParsedUrl | undefined {
  if (kept.has(text)) return kept.get(text);
  if (kept.size >= keptMax) kept.clear();
  const parsed = URL.canParse(text) && !hasDotSegment(text) ? partsOf(new URL(text)) : undefined;
  kept.set(text, parsed);
  return parsed;
}

function partsOf({ origin, protocol, hostname, host, port, pathname, search }: URL): ParsedUrl | undefined {
  if (host === '') return undefined;
  return { origin, protocol, hostname: hostname.replace(/^\[|\]$/g, ''), host, port, path: pathname + search };
}
