import type { JetStreamClient, JetStreamManager, NatsConnection } from 'nats';
import type { Asker } from './asker.ts';

/** The client library's objects for one connection. */
export type LogClient = {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  /** A new reply subject that the connection's user may subscribe to. */
  createInbox(): string;
  readonly asker: Asker;
};

/**
 * The key of the library's objects in a LogConnection. Outside of shared/nats only tests use it, to change a log in
 * ways that no service does: `npm run check:layers` refuses the import elsewhere.
 */
export const client: unique symbol = Symbol('client');
