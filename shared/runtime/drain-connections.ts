/** A server as those see it who end it. */
export type Drainable = {
  /** Requests that wait for their answer. */
  readonly open: number;
  /** Clients' connections, idle ones included. */
  readonly connections: number;
  /** From now on each answer is the last one of its connection. */
  endConnections(): void;
  /** Stops listening. */
  refuseNew(): void;
};

export type DrainOptions = {
  /** How long new connections are still taken. */
  readonly acceptMs: number;
  /** How long connections may stay on which nothing is asked. */
  readonly idleMs: number;
  /** For all of it, in ms. */
  readonly deadlineMs: number;
};

const pollMs = 10;

/**
 * Lets the clients of a server go. A connection that is cut while its client sends a request is a reset, and the client
 * cannot know whether the request was taken: so each is told with an answer that it ends, and those that are idle are given
 * time to ask once more. Resolves when no connection is left, or else when no request waits for its answer.
 */
export async function drainConnections(server: Drainable, options: DrainOptions): Promise<void> {
  const { acceptMs, idleMs, deadlineMs } = options;
  const startedMs = performance.now();
  const passedMs = (): number => performance.now() - startedMs;
  if (acceptMs > 0) {
    server.endConnections();
    await pause(Math.min(acceptMs, deadlineMs));
  }
  // Connections that wait to be taken are reset when listening ends: directly behind a look at them there are the fewest.
  await connectionsTaken();
  server.refuseNew();
  // Not before: whoever is told that its connection ends opens another one at once.
  server.endConnections();
  const idleUntilMs = passedMs() + idleMs;
  while (server.connections > 0 && passedMs() < deadlineMs) {
    if (server.open === 0 && passedMs() >= idleUntilMs) return;
    await pause(pollMs);
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
/** Immediates run directly behind the part of the event loop that takes connections. */
const connectionsTaken = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
