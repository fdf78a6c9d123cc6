import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { Server as NetServer } from 'node:net';
import { firstStepMs, shutdownDeadline } from './service-settings.ts';
import { defineSettings, fromEnv } from './settings.ts';
import { count } from './variables.ts';

/**
 * Disconnects the clients of one of Node's servers; call it before the server's `close`, which closes idle ones at
 * once.
 */
export type DrainServer = (options: DrainOptions) => Promise<void>;

/** Watches a server from its start, so that it can be drained. */
export function createDrainServer(server: HttpServer | HttpsServer): DrainServer {
  // By connection, each with its newest answer.
  const answers = new Map<Socket, ServerResponse | undefined>();
  let draining = false;
  // A TLS server emits its connections under another name; the plain ones beneath them have no requests.
  server.on(server instanceof HttpsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    answers.set(socket, undefined);
    socket.once('close', () => answers.delete(socket));
  });
  server.prependListener('request', ({ socket }: IncomingMessage, answer: ServerResponse) => {
    if (answers.has(socket)) answers.set(socket, answer);
    if (draining) answer.shouldKeepAlive = false;
  });
  const state: Drainable = {
    get open() {
      return [...answers.values()].filter((answer) => answer !== undefined && !answer.writableFinished).length;
    },
    get connections() {
      return answers.size;
    },
    endConnections() {
      draining = true;
      for (const answer of answers.values()) if (answer?.headersSent === false) answer.shouldKeepAlive = false;
    },
    // An HTTP server's `close` closes idle connections at once; that of a TCP server leaves them.
    refuseNew: () => void NetServer.prototype.close.call(server),
  };
  return (options) => drainConnections(state, options);
}

/** A server for the code that stops it. */
export type Drainable = {
  /** Requests that wait for their answer. */
  readonly open: number;
  /** Clients' connections, idle ones included. */
  readonly connections: number;
  /** Makes each answer the last one of its connection from now on. */
  endConnections(): void;
  /** Stops listening. */
  refuseNew(): void;
};

/** The part of the shutdown deadline that is kept for the steps after the last answers. */
const closingMs = 2_000;

/** How services to which clients keep connections end them. */
export const { variables: servingEnv, read: readDrainOptions } = defineSettings({
  /** How long new connections are still accepted. */
  acceptMs: fromEnv({
    SHUTDOWN_ACCEPT_MS: count(
      'How long a service that shuts down still accepts connections: until a load balancer that reads `/readyz` sends no more',
      0,
      { unit: 'ms', minimum: 0 },
    ),
  }),
  /** How long idle connections may stay open. */
  idleMs: fromEnv({
    SHUTDOWN_IDLE_MS: count(
      'How long idle connections may stay open after SHUTDOWN_ACCEPT_MS. SHUTDOWN_DEADLINE_MS limits both',
      2_000,
      { unit: 'ms', minimum: 0 },
    ),
  }),
  /** For the whole drain. */
  deadlineMs: fromEnv(shutdownDeadline, (env) => firstStepMs(env, closingMs)),
});

export type DrainOptions = ReturnType<typeof readDrainOptions>;

const pollMs = 10;

/**
 * Disconnects the clients of a server. A client whose connection is cut while it sends a request sees a reset and cannot
 * know whether the request was accepted: so an answer announces each close, and idle connections have time for one more
 * request. Resolves when no connection is left, or else when no request waits for its answer.
 */
export async function drainConnections(server: Drainable, options: DrainOptions): Promise<void> {
  const { acceptMs, idleMs, deadlineMs } = options;
  const startedMs = performance.now();
  const passedMs = (): number => performance.now() - startedMs;
  if (acceptMs > 0) {
    server.endConnections();
    await pause(Math.min(acceptMs, deadlineMs));
  }
  // Connections that wait to be accepted are reset when listening ends: right after the accept phase there are the
  // fewest.
  await connectionsTaken();
  server.refuseNew();
  // Not earlier: a client whose connection is about to close opens another one at once.
  server.endConnections();
  const idleUntilMs = passedMs() + idleMs;
  while (server.connections > 0 && passedMs() < deadlineMs) {
    if (server.open === 0 && passedMs() >= idleUntilMs) return;
    await pause(pollMs);
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
/** Immediates run right after the phase of the event loop that accepts connections. */
const connectionsTaken = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
