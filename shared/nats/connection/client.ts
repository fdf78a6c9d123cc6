import type { JetStreamClient, JetStreamManager, NatsConnection } from 'nats';
import type { Asker } from './asker.ts';

/** What the client library has of a connection. */
export type LogClient = {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  /** A new subject for replies, of those that the user of the connection may subscribe to. */
  createInbox(): string;
  readonly asker: Asker;
};

/**
 * The place of the library in a LogConnection. Outside of shared/nats only tests look there, to do to a log what no
 * service does: `npm run check:layers` refuses the import.
 */
export const client: unique symbol = Symbol('client');
