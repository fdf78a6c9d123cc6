import type { LogConnection } from '../connection/connection.ts';
import { confirmConsumer, rewindConsumer, skipConsumer } from './consumers.ts';
import type { DurableConsumer, OwnedConsumer } from './consumers.ts';
import type { FinishedMessages } from './taken-messages.ts';

/**
 * Requests of a consumer's owner to the server. Each throws ConsumerTakenError if another reader has taken the
 * consumer over.
 */
export type ConsumerControl = {
  confirm(): Promise<void>;
  /** Makes the server deliver all unacknowledged messages again. */
  rewind(finished: FinishedMessages): Promise<OwnedConsumer>;
  /**
   * Makes the server skip messages up to a sequence. Returns `owned` itself if the log does not reach that sequence, or
   * if everything up to it is acknowledged.
   */
  skip(owned: OwnedConsumer, upTo: number): Promise<OwnedConsumer>;
};

/** A failed request to the server is repeated after this time, in ms. */
export const retryDelayMs = 250;

export const controlConsumer = (
  connection: LogConnection,
  consumer: DurableConsumer,
  group: string,
): ConsumerControl => ({
  confirm: () => confirmConsumer(connection, consumer, group),
  rewind: (finished) => rewindConsumer(connection, consumer, group, finished),
  skip: (owned, upTo) => skipConsumer(connection, consumer, owned, upTo),
});
