import { connect, Events } from 'nats';
import type { JetStreamClient, JetStreamManager, NatsConnection } from 'nats';

/** One connection to the log. It reconnects for ever; `connected` tells whether it is usable now. */
export type LogConnection = {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly connected: boolean;
  /** Times the connection came back after a loss. */
  readonly reconnects: number;
  /** Calls `listener` after every reconnect; the function returned takes it back. */
  onReconnect(listener: () => void): () => void;
  onDisconnect(listener: () => void): () => void;
  /** Resolves when the connection is closed for good, with the error unless `close` did it. */
  readonly closed: Promise<Error | undefined>;
  /** Flushes what is written and closes; gives up waiting after `deadlineMs`. */
  close(deadlineMs?: number): Promise<void>;
};

export type ConnectLogOptions = {
  readonly url: string;
  /** Shown in the server's list of connections. */
  readonly name: string;
  /** How long the first connection may take, in ms. Default 10,000. */
  readonly connectTimeoutMs?: number;
};

const requestTimeoutMs = 5_000;

export class LogConnectError extends Error {
  readonly code = 'log_connect';
}

/** Connects to nats-server; waits for a server that is still starting. */
export async function connectLog(options: ConnectLogOptions): Promise<LogConnection> {
  const nc = await dial(options);
  let connected = true;
  let reconnects = 0;
  const reconnected = new Set<() => void>();
  const disconnected = new Set<() => void>();
  const watching = (async () => {
    for await (const status of nc.status()) {
      if (status.type === Events.Disconnect) {
        connected = false;
        for (const listener of disconnected) listener();
      } else if (status.type === Events.Reconnect) {
        connected = true;
        reconnects += 1;
        for (const listener of reconnected) listener();
      }
    }
  })();
  const closed = (async () => {
    const error = await nc.closed();
    connected = false;
    await watching.catch(() => undefined);
    return error instanceof Error ? error : undefined;
  })();
  return {
    nc,
    js: nc.jetstream({ timeout: requestTimeoutMs }),
    jsm: await nc.jetstreamManager({ timeout: requestTimeoutMs, checkAPI: false }),
    get connected() {
      return connected && !nc.isClosed();
    },
    get reconnects() {
      return reconnects;
    },
    onReconnect: (listener) => subscribe(reconnected, listener),
    onDisconnect: (listener) => subscribe(disconnected, listener),
    closed,
    async close(deadlineMs = 5_000) {
      if (nc.isClosed()) return;
      await withDeadline(nc.flush(), deadlineMs);
      await withDeadline(nc.close(), deadlineMs);
    },
  };
}

async function dial(options: ConnectLogOptions): Promise<NatsConnection> {
  const deadline = performance.now() + (options.connectTimeoutMs ?? 10_000);
  for (;;) {
    try {
      return await connect({
        servers: options.url.split(','),
        name: options.name,
        // The library's own default gives up after ten tries and stays closed.
        maxReconnectAttempts: -1,
        reconnectTimeWait: 250,
        reconnectJitter: 250,
        timeout: 3_000,
        pingInterval: 5_000,
        maxPingOut: 2,
        noAsyncTraces: true,
        ignoreClusterUpdates: false,
      });
    } catch (error) {
      if (performance.now() >= deadline) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new LogConnectError(`connecting to NATS at NATS_URL: ${reason}`, { cause: error });
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

function subscribe(listeners: Set<() => void>, listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Waits for work that may fail or never end, `deadlineMs` at most. */
export async function withDeadline(work: Promise<unknown>, deadlineMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, deadlineMs);
  });
  await Promise.race([work.catch(() => undefined), late]);
  clearTimeout(timer);
}
