import { eventsSubject } from '../contracts/subjects.ts';
import type { LogConnection } from '../nats/connection/connection.ts';
import type { DurableConsumer, PlaceKept } from '../nats/consume/consumers.ts';
import type { PullConsumer } from '../nats/consume/pull-consumer.ts';
import type { LogMessage } from '../nats/messages/log-message.ts';
import { publish } from '../nats/publish/publisher.ts';
import { streams } from '../nats/streams/topology.ts';

/** Publishes the numbers from `from` up to, but not including, `to`, each as a message of an account's log. */
export async function putNumbers(connection: LogConnection, account: string, from: number, to: number): Promise<void> {
  for (let n = from; n < to; n += 1) {
    await publish(connection, eventsSubject(account, 0), Buffer.from(String(n)), {
      msgId: `${account}-${n}`,
      timeoutMs: 5_000,
    });
  }
}

/** A consumer of an account's log, from its beginning. */
export const consumerOfNumbers = (account: string, placeIsKept: PlaceKept): DurableConsumer => ({
  stream: streams.events,
  name: `reader-${account}`,
  filterSubject: eventsSubject(account, 0),
  startFrom: 'first',
  ackWaitMs: 30_000,
  ackPendingMax: 100,
  placeIsKept,
});

export const textsOf = (messages: readonly LogMessage[]): string[] =>
  messages.map(({ data }) => Buffer.from(data).toString());

/** Takes `count` messages, in as many requests as needed. */
export async function takeAll(pullConsumer: PullConsumer, count: number): Promise<LogMessage[]> {
  const taken: LogMessage[] = [];
  while (taken.length < count) taken.push(...(await pullConsumer.take(count - taken.length)));
  return taken;
}
