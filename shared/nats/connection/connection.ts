import type { ConnectionOptions, NatsConnection } from 'nats';
import { DebugEvents, ErrorCode, Events, NatsError, connect, createInbox } from 'nats';
import { withDeadline } from '../../runtime/deadline.ts';
import { createAsker } from './asker.ts';
import { client } from './client.ts';
import type { LogClient } from './client.ts';
import type { LogAccess } from './log-access.ts';
import { accessOptions } from './log-access.ts';
import { endStale, keepOneTransport } from './one-transport.ts';
import { versionProblem } from './server-version.ts';
import { tlsFailure } from '../../runtime/tls-failure.ts';

/** The server that a connection uses, or used last. A field is undefined if the server did not report it. */
export type ConnectedServer = {
  readonly name: string | undefined;
  readonly version: string | undefined;
  /** Host and port. */
  readonly address: string;
  readonly isEncrypted: boolean;
};

/** One connection to the log. It reconnects for ever; `connected` tells whether it is usable now. */
export type LogConnection = {
  readonly [client]: LogClient;
  readonly connected: boolean;
  readonly server: ConnectedServer;
  /**
   * Bytes of the largest message that the server accepts, headers included. Until the server reports its limit, this is
   * nats-server's default.
   */
  readonly messageBytesMax: number;
  /**
   * Why the log cannot be used over this connection now: there is no server, or the server is too old. Undefined if the
   * log can be used.
   */
  readonly problem: string | undefined;
  /** Number of times the connection came back after a loss. */
  readonly reconnects: number;
  /** Calls `listener` after every reconnect. Returns a function that removes the listener. */
  onReconnect(listener: () => void): () => void;
  onDisconnect(listener: () => void): () => void;
  /** Resolves when the connection is closed for good, with the error that closed it if there is one. */
  readonly closed: Promise<Error | undefined>;
  /** Flushes written data and closes; stops waiting after `deadlineMs`. */
  close(deadlineMs?: number): Promise<void>;
};

export type ConnectLogOptions = LogAccess & {
  /** Shown in the server's list of connections. */
  readonly name: string;
  /** How long the first connection may take, in ms. Default 10,000. */
  readonly connectTimeoutMs?: number;
  /** Accept a server that is too old, for callers that only read or have checked before. Default false. */
  readonly acceptsOldServer?: boolean;
};

const defaultMessageBytesMax = 1024 ** 2;
const requestTimeoutMs = 5_000;
const attemptTimeoutMs = 3_000;
/** Time to find out why an attempt failed, in ms: it may take longer than the attempt. */
const explanationTimeoutMs = 10_000;
const silence: string = ErrorCode.Timeout;

export class LogConnectError extends Error {
  readonly code = 'log_connect';
}

/**
 * Connects to nats-server. Waits for a server that is still starting. Throws LogConnectError if the server refuses the
 * client or is too old. In a cluster only the version of the server that answered is checked: doctor and metrics report
 * other servers' versions.
 */
export async function connectLog(options: ConnectLogOptions): Promise<LogConnection> {
  const nc = await dial(options);
  const { inboxPrefix } = accessOptions(options);
  if (options.acceptsOldServer !== true) await refuseOldServer(nc);
  let connected = true;
  let reconnects = 0;
  const reconnected = new Set<() => void>();
  const disconnected = new Set<() => void>();
  const newInbox = (): string => createInbox(inboxPrefix);
  const asker = createAsker(nc, newInbox);
  const watching = (async () => {
    for await (const status of nc.status()) {
      if (status.type === Events.Disconnect) {
        connected = false;
        asker.disconnected();
        for (const listener of disconnected) listener();
      } else if (status.type === Events.Reconnect) {
        connected = true;
        reconnects += 1;
        for (const listener of reconnected) listener();
      } else if (status.type === DebugEvents.StaleConnection) {
        endStale(nc);
      }
    }
  })();
  const closed = (async () => {
    const error = await nc.closed();
    connected = false;
    asker.disconnected();
    await watching.catch(() => undefined);
    return error instanceof Error ? error : undefined;
  })();
  return {
    [client]: {
      nc,
      js: nc.jetstream({ timeout: requestTimeoutMs }),
      jsm: await nc.jetstreamManager({ timeout: requestTimeoutMs, checkAPI: false }),
      createInbox: newInbox,
      asker,
    },
    get connected() {
      return connected && !nc.isClosed();
    },
    get server() {
      const { info } = nc;
      return {
        name: info?.server_name,
        version: info?.version,
        address: nc.getServer(),
        isEncrypted: info?.tls_required === true,
      };
    },
    get messageBytesMax() {
      return nc.info?.max_payload ?? defaultMessageBytesMax;
    },
    get problem() {
      if (!connected || nc.isClosed()) return 'NATS at NATS_URL is not connected';
      // A reconnect may have reached another server.
      return versionProblem(nc.info?.version);
    },
    get reconnects() {
      return reconnects;
    },
    onReconnect: (listener) => subscribe(reconnected, listener),
    onDisconnect: (listener) => subscribe(disconnected, listener),
    closed,
    async close(deadlineMs = 5_000) {
      if (nc.isClosed()) return;
      await withDeadline(Promise.allSettled([nc.flush()]), deadlineMs);
      await withDeadline(Promise.allSettled([nc.close()]), deadlineMs);
    },
  };
}

async function refuseOldServer(nc: NatsConnection): Promise<void> {
  const problem = versionProblem(nc.info?.version);
  if (problem === undefined) return;
  const server = nc.getServer();
  await nc.close();
  throw new LogConnectError(`connecting to NATS at NATS_URL: ${problem} (${server} answered)`);
}

async function dial(options: ConnectLogOptions): Promise<NatsConnection> {
  const connectTimeoutMs = options.connectTimeoutMs ?? 10_000;
  const redial = createRedial();
  const attempt = {
    ...accessOptions(options),
    name: options.name,
    // By default the library closes the connection for good after ten tries.
    maxReconnectAttempts: -1,
    reconnectDelayHandler: redial.delayMs,
    timeout: Math.min(attemptTimeoutMs, connectTimeoutMs),
    pingInterval: 5_000,
    maxPingOut: 2,
    noAsyncTraces: true,
    // Only servers of NATS_URL are used: a server that another server announces may be a stranger's, and would receive
    // our credentials.
    ignoreClusterUpdates: true,
  };
  const deadline = performance.now() + connectTimeoutMs;
  for (;;) {
    try {
      const nc = await connect(attempt);
      keepOneTransport(nc);
      redial.attach(nc);
      return nc;
    } catch (error) {
      const { reason, passes } = connectFailure(await explained(error, attempt));
      if (!passes || performance.now() >= deadline) {
        throw new LogConnectError(`connecting to NATS at NATS_URL: ${reason}`, { cause: error });
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

/**
 * With TLS 1.3 a server refuses our certificate only after the handshake, which the library reports as silence. A
 * second attempt with TLS 1.2 reports the refusal at once.
 */
async function explained(error: unknown, attempt: ConnectionOptions): Promise<unknown> {
  if (!(error instanceof NatsError) || error.code !== silence || !attempt.tls) return error;
  const olderTls = { ...attempt.tls, maxVersion: 'TLSv1.2' };
  try {
    const nc = await connect({ ...attempt, tls: olderTls, timeout: explanationTimeoutMs, reconnect: false });
    await nc.close();
    return error;
  } catch (reason) {
    return reason;
  }
}

function subscribe(listeners: Set<() => void>, listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** What a failed attempt to connect means for the operator. */
type ConnectFailure = {
  /** For the operator, with the variables to check. */
  readonly reason: string;
  /** Whether another try may help. A server that refuses our login keeps refusing it. */
  readonly passes: boolean;
};

const withoutTls: string = ErrorCode.ServerOptionNotAvailable;
/** Codes that the library derives from the text of the server's `-ERR`. */
const notLetIn: ReadonlySet<string> = new Set([
  ErrorCode.AuthorizationViolation,
  ErrorCode.AuthenticationExpired,
  ErrorCode.AccountExpired,
]);

/** Interprets an error of the client library, which may come from Node's TLS or from the server. */
function connectFailure(error: unknown): ConnectFailure {
  const [message, code] = [messageOf(error), codeOf(error)];
  const refused = refusal(message, code);
  return refused === undefined
    ? { reason: message, passes: true }
    : { reason: `${refused} (${message})`, passes: false };
}

function refusal(message: string, code: string): string | undefined {
  if (notLetIn.has(code)) {
    return 'the server refuses the login: check NATS_USER and NATS_PASSWORD, NATS_TOKEN, NATS_NKEY_SEED, NATS_CREDS';
  }
  if (code === withoutTls) {
    return 'NATS_CA, NATS_CERT or tls:// in NATS_URL requires TLS, but the server does not support it';
  }
  return tlsFailure(code, message, 'NATS');
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

// The library wraps errors: the innermost code is the cause.
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if ('chainedError' in error && error.chainedError instanceof Error) return codeOf(error.chainedError);
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** The client library waits this long between two tries to reach a server, in ms. */
const waitMinMs = 250;
const waitJitterMs = 250;

/**
 * Internals of the client library: the servers that it may dial, and when it last dialled each, in ms since the epoch.
 */
type Dialled = { lastConnect: number };
type ClientInternals = { readonly protocol?: { readonly servers?: { getServers?(): readonly Dialled[] } } };

type Redial = {
  /** The library's `reconnectDelayHandler`, called before each try. Returns a wait in ms. */
  readonly delayMs: () => number;
  /** Sets the client whose latest connection attempts are checked; until it is set, no attempts are known. */
  attach(client: unknown): void;
};

/**
 * The library dials a server only once the wall clock has passed its last try. If the clock was set back by an hour,
 * the library would not dial for an hour: a last try in the future is reset.
 */
function createRedial(): Redial {
  let client: ClientInternals | undefined;
  return {
    delayMs() {
      for (const server of client?.protocol?.servers?.getServers?.() ?? []) {
        if (server.lastConnect > Date.now()) server.lastConnect = 0;
      }
      return waitMinMs + Math.random() * waitJitterMs;
    },
    attach(made) {
      client = made as ClientInternals;
    },
  };
}
