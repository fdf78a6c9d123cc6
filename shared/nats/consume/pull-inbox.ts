import type { Msg, Subscription } from 'nats';
import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';
import { readLogMessage } from '../messages/log-message.ts';
import type { LogMessage, MessageKeeper } from '../messages/log-message.ts';
import type { DurableConsumer } from './consumers.ts';
import type { PullRequest } from './pull-requests.ts';
import { readPullStatus } from './pull-status.ts';
import type { PullStatus } from './pull-status.ts';

export type PullInboxOptions = {
  readonly connection: LogConnection;
  readonly consumer: Pick<DurableConsumer, 'stream' | 'name'>;
  readonly keeper: MessageKeeper;
  onMessage(message: LogMessage): void;
  onStatus(status: PullStatus): void;
  onFailed(error: unknown): void;
};

/**
 * Receives the server's answers to pull requests, on a subject of its own. Each rewind opens a new subject, so that
 * answers to earlier requests do not arrive.
 */
export class PullInbox {
  readonly #options: PullInboxOptions;
  #subject = '';
  #subscription: Subscription | undefined;

  constructor(options: PullInboxOptions) {
    this.#options = options;
  }

  get isConnected(): boolean {
    return this.#options.connection.connected;
  }

  open(): void {
    const { connection, onFailed } = this.#options;
    this.#subject = connection[client].createInbox();
    this.#subscription = connection[client].nc.subscribe(this.#subject, {
      callback: (error, message) => {
        if (error === null) this.#receive(message);
        else onFailed(error);
      },
    });
  }

  close(): void {
    this.#subscription?.unsubscribe();
    this.#subscription = undefined;
  }

  send(request: PullRequest): void {
    const { connection, consumer } = this.#options;
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${consumer.stream}.${consumer.name}`;
    connection[client].nc.publish(subject, JSON.stringify(request), { reply: this.#subject });
  }

  #receive(pulled: Msg): void {
    const { connection, keeper, onMessage, onStatus } = this.#options;
    const message = readLogMessage(connection, pulled, keeper);
    if (message === undefined) onStatus(readPullStatus(pulled));
    else onMessage(message);
  }
}
