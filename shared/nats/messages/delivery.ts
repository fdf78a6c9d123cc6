import type { Msg, MsgHdrs } from 'nats';
import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';

/** One message of a stream in the hands of a consumer, until it is acknowledged. */
export type Delivery = {
  readonly subject: string;
  readonly data: Uint8Array;
  /** Sequence in the stream. */
  readonly seq: number;
  /** 1 for the first delivery; more after a redelivery. */
  readonly deliveries: number;
  /** When the stream stored it, in ms since the epoch. */
  readonly storedAtMs: number;
  /** Messages of this consumer that wait behind this one. */
  readonly pending: number;
  /** Counts what the consumer has handed out since it was last reset, redeliveries too. */
  readonly consumerSeq: number;
  header(name: string): string | undefined;
  /** Done with it. Lost if the connection is down: it is then delivered again. */
  ack(): void;
  /** Done with it, and the server has said so. False when it did not within the deadline. */
  ackConfirmed(deadlineMs: number): Promise<boolean>;
  /** All of it is done, and the ack follows: from now on it counts as finished. */
  finish(): void;
  /** Nothing is done with it: it comes again, in order, before anything newer. */
  release(): void;
  /** Still working on it: restarts the wait for the ack. */
  working(): void;
};

const ackPrefix = '$JS.ACK.';
const encode = (text: string): Uint8Array => Buffer.from(text);
const verbs = { ack: encode('+ACK'), working: encode('+WPI') };

/** Who keeps account of the messages a reader has. */
export type DeliveryKeeper = {
  /** False when another message has its sequence by now: an ack would be taken for that one's. */
  acknowledged(delivery: Delivery): boolean;
  finished(delivery: Delivery): void;
  released(delivery: Delivery): void;
};

const nobody: DeliveryKeeper = {
  acknowledged: () => true,
  finished: () => undefined,
  released: () => undefined,
};

/** Reads a pulled message; undefined for a status message of the server. */
export function readDelivery(
  connection: LogConnection,
  message: Msg,
  keeper: DeliveryKeeper = nobody,
): Delivery | undefined {
  const reply = message.reply;
  if (reply === undefined || !reply.startsWith(ackPrefix)) return undefined;
  const tokens = reply.split('.');
  // $JS.ACK.<stream>.<consumer>.<delivered>.<stream seq>.<consumer seq>.<time>.<pending>; newer servers
  // put <domain>.<account hash> behind the prefix.
  const base = tokens.length >= 11 ? 6 : 4;
  const number = (index: number): number => Number(tokens[base + index]);
  const headers: MsgHdrs | undefined = message.headers;
  const answer = (verb: Uint8Array): void => {
    if (!connection[client].nc.isClosed()) connection[client].nc.publish(reply, verb);
  };
  const delivery: Delivery = {
    subject: message.subject,
    data: message.data,
    deliveries: number(0),
    seq: number(1),
    storedAtMs: Math.floor(number(3) / 1e6),
    consumerSeq: number(2),
    pending: number(4),
    header: (name) => {
      const value = headers?.get(name);
      return value === undefined || value === '' ? undefined : value;
    },
    ack() {
      if (keeper.acknowledged(delivery)) answer(verbs.ack);
    },
    async ackConfirmed(deadlineMs) {
      try {
        if (!keeper.acknowledged(delivery)) return true;
        await connection[client].nc.request(reply, verbs.ack, { timeout: deadlineMs });
        return true;
      } catch {
        return false;
      }
    },
    finish: () => keeper.finished(delivery),
    release: () => keeper.released(delivery),
    working: () => answer(verbs.working),
  };
  return delivery;
}
