/** How long the client library waits between two tries to reach a server that is away, in ms. */
const waitMinMs = 250;
const waitJitterMs = 250;

/** What we have to know of the client library's insides: the servers it may dial, and when it last did. */
type Dialled = { lastConnect: number };
type ClientInternals = { readonly protocol?: { readonly servers?: { getServers?(): readonly Dialled[] } } };

export type Redial = {
  /** For the library's `reconnectDelayHandler`: it asks before each try. */
  readonly delayMs: () => number;
  /** The client whose tries these are; until then there are none to mend. */
  attach(client: unknown): void;
};

/**
 * The library dials a server once the wall clock is past its last try: after a clock was set back by an hour, with the
 * server restarted then, it would dial nobody for an hour. A try that lies in the future says that the clock was set
 * back since, and is forgotten.
 */
export function createRedial(): Redial {
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
