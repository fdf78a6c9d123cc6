import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { Server as NetServer } from 'node:net';
import { firstStepMs, shutdownDeadline } from './service-settings.ts';
import { defineSettings, fromEnv } from './settings.ts';
import { count } from './variables.ts';

/**
 * Disconnects the clients of one of Node's servers. Call it before the server's `close`, which closes idle connections
 * at once.
 */
export type DrainServer = (options: DrainOptions) => Promise<void>;

/** Watches a server from its start, so that it can be drained. */
export function createDrainServer(server: HttpServer | HttpsServer): DrainServer {
  // The newest answer of each connection; undefined before its first request.
  const answers = new Map<Socket, ServerResponse | undefined>();
  let draining = false;
  // A TLS server emits its connections under another name; the plain connections beneath them carry no requests.
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
    // An HTTP server's own `close` also closes idle connections; the inherited `close` of a TCP server does not.
    refuseNew: () => void NetServer.prototype.close.call(server),
  };
  return (options) => drainConnections(state, options);
}

/** A server, as `drainConnections` needs it. */
export type Drainable = {
  /** Number of requests that wait for their answer. */
  readonly open: number;
  /** Number of the clients' connections, including idle ones. */
  readonly connections: number;
  /** Makes each answer the last one of its connection from now on. */
  endConnections(): void;
  /** Stops listening. */
  refuseNew(): void;
};

/** Time that the shutdown deadline leaves for the steps after the last answers, in ms. */
const closingMs = 2_000;

/** How a service ends the connections that clients keep open to it. */
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
  /** Limit of the whole drain, in ms. */
  deadlineMs: fromEnv(shutdownDeadline, (env) => firstStepMs(env, closingMs)),
});

export type DrainOptions = ReturnType<typeof readDrainOptions>;

const pollMs = 10;

/**
 * Disconnects the clients of a server. A client whose connection is cut during a request cannot know whether the server
 * accepted the request; therefore an answer announces each close, and idle connections have time for one more request.
 * Resolves once no connection is left; after `idleMs`, as soon as no request waits for its answer; at the latest at the
 * deadline.
 */
export async function drainConnections(server: Drainable, options: DrainOptions): Promise<void> {
  const { acceptMs, idleMs, deadlineMs } = options;
  const startedMs = performance.now();
  const passedMs = (): number => performance.now() - startedMs;
  if (acceptMs > 0) {
    server.endConnections();
    await pause(Math.min(acceptMs, deadlineMs));
  }
  // The end of listening resets connections that wait to be accepted. Right after the accept phase of the event loop,
  // the fewest connections wait.
  await connectionsTaken();
  server.refuseNew();
  // If `acceptMs` is 0, connections end only now, after listening has ended: a client opens another connection as soon
  // as it loses one.
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
