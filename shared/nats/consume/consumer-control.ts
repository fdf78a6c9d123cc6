import type { LogConnection } from '../connection/connection.ts';
import { confirmConsumer, rewindConsumer, skipConsumer } from './consumers.ts';
import type { DurableConsumer, OwnedConsumer } from './consumers.ts';
import type { FinishedMessages } from './taken-messages.ts';

/** What the owner of a consumer asks of the server. Each throws ConsumerTakenError where another reader has taken over. */
export type ConsumerControl = {
  confirm(): Promise<void>;
  /** Has everything that is not acknowledged handed out again. */
  rewind(finished: FinishedMessages): Promise<OwnedConsumer>;
  /** Has nothing up to a sequence handed out any more. Returns `owned` itself where the log does not reach that far. */
  skip(owned: OwnedConsumer, upTo: number): Promise<OwnedConsumer>;
};

/** A failed request to the server is repeated after this. */
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
