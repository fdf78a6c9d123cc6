import type { IncomingHttpHeaders } from 'node:http';
import { Pool, errors } from 'undici';
import type { Dispatcher } from 'undici';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { defineSettings, fromEnv } from '../../../shared/runtime/settings.ts';
import { optionalText } from '../../../shared/runtime/variables.ts';
import { requestDeadline } from '../../commit/commit-settings.ts';

export type UpstreamAnswer = {
  readonly status: number;
  readonly body: Uint8Array;
  /** The Retry-After header of the control plane's answer; undefined if it has none. */
  readonly retryAfter: string | undefined;
};

/** Why a request to the control plane failed. */
export type UpstreamFailure = 'busy' | 'timeout' | 'unreachable' | 'bad_answer';

export type ForwardResult =
  | { readonly kind: 'answered'; readonly answer: UpstreamAnswer }
  | { readonly kind: 'failed'; readonly reason: UpstreamFailure };

/** The control plane as the gateway sees it. */
export type ControlPlane = {
  /** Posts a body once: only the client knows whether a retry is safe. Never rejects. */
  post(path: string, headers: Readonly<Record<string, string>>, body: Buffer): Promise<ForwardResult>;
  close(): Promise<void>;
};

const connectionsMax = 64;
/** Limit of an answer, with room for the properties of many variants; a larger answer is not from the control plane. */
const answerBytesMax = 8 * 1024 ** 2;

/** Keeps connections to the control plane. Only a request shows whether it is available. */
export function connectControlPlane({ url, requestsMax, deadlineMs }: ControlPlaneSettings): ControlPlane {
  const { origin, pathname } = new URL(url);
  const prefix = pathname.replace(/\/+$/, '');
  const pool = new Pool(origin, {
    connections: Math.min(requestsMax, connectionsMax),
    pipelining: 1,
    connectTimeout: deadlineMs,
    headersTimeout: deadlineMs,
    bodyTimeout: deadlineMs,
    maxResponseSize: answerBytesMax,
  });
  let inFlight = 0;
  return {
    post(path, headers, body) {
      if (inFlight >= requestsMax) return Promise.resolve(busy);
      inFlight += 1;
      return new Promise((resolve) => {
        const exchange = new UpstreamExchange(deadlineMs, (result) => {
          inFlight -= 1;
          resolve(result);
        });
        pool.dispatch({ path: `${prefix}${path}`, method: 'POST', headers, body }, exchange);
      });
    },
    close: () => pool.destroy(),
  };
}

const busy: ForwardResult = { kind: 'failed', reason: 'busy' };

/**
 * One request and its answer, which is small and kept whole. Without a stream for the body, and with a plain timer, the
 * exchange costs a fraction of the client's own `request`.
 */
class UpstreamExchange implements Dispatcher.DispatchHandler {
  readonly #timer: NodeJS.Timeout;
  #settle: ((result: ForwardResult) => void) | undefined;
  /** Undefined while it waits for a connection. */
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  readonly #chunks: Buffer[] = [];

  constructor(deadlineMs: number, settle: (result: ForwardResult) => void) {
    this.#settle = settle;
    this.#timer = setTimeout(() => {
      this.#end({ kind: 'failed', reason: 'timeout' });
      this.#controller?.abort(late);
    }, deadlineMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The connection became free after the request had ended.
    if (this.#settle === undefined) controller.abort(late);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const type = this.#headers['content-type'] ?? '';
    // Not from the control plane: a proxy in between has answered.
    if (!type.startsWith('application/json')) return this.#end({ kind: 'failed', reason: 'bad_answer' });
    const [first, ...more] = this.#chunks;
    const body = first !== undefined && more.length === 0 ? first : Buffer.concat(this.#chunks);
    this.#end({ kind: 'answered', answer: { status: this.#status, body, retryAfter: this.#headers['retry-after'] } });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end({ kind: 'failed', reason: reasonOf(error) });
  }

  #end(result: ForwardResult): void {
    clearTimeout(this.#timer);
    this.#settle?.(result);
    this.#settle = undefined;
  }
}

const late = new Error('the control plane did not answer in time');

function reasonOf(error: unknown): UpstreamFailure {
  if (error instanceof errors.ResponseExceededMaxSizeError) return 'bad_answer';
  const timedOut =
    error instanceof errors.ConnectTimeoutError ||
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.BodyTimeoutError;
  return timedOut ? 'timeout' : 'unreachable';
}

export const { variables: experimentsEnv, read: readExperimentsSettings } = defineSettings({
  /** Base address, which may have a path. If undefined, this gateway does not serve experiments. */
  url: fromEnv({
    CONTROL_PLANE_URL: optionalText(
      'The control plane that serves experiments; without it they are not served under the ingest address',
      { pattern: '^https?://' },
    ),
  }),
  /** Requests in flight to the control plane; more are refused at once. */
  requestsMax: 512,
  /** From the first byte sent to the last byte received. */
  deadlineMs: fromEnv(requestDeadline),
});

type ExperimentsSettings = ReturnType<typeof readExperimentsSettings>;
type ControlPlaneSettings = ExperimentsSettings & { readonly url: string };

/** Undefined if experiments are not served. */
export function openControlPlane({ url, ...limits }: ExperimentsSettings, logger: Logger): ControlPlane | undefined {
  if (url !== undefined) return connectControlPlane({ url, ...limits });
  logger.info('experiments are not served here: CONTROL_PLANE_URL is not set');
  return undefined;
}
