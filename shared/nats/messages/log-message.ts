import type { Msg, MsgHdrs } from 'nats';
import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';

/** One message of a stream, delivered to a consumer and not yet acknowledged. */
export type LogMessage = {
  readonly subject: string;
  readonly data: Uint8Array;
  /** Sequence in the stream. */
  readonly seq: number;
  /** Number of deliveries of this message, including this delivery. */
  readonly timesHandedOut: number;
  /** When the stream stored it, in ms since the epoch. */
  readonly storedAtMs: number;
  /** Number of messages that the consumer has not delivered yet. */
  readonly pending: number;
  /** Deliveries of the consumer since its last reset, repeated ones included. */
  readonly consumerSeq: number;
  header(name: string): string | undefined;
  /** Acknowledges the message. The ack is lost if the connection is down; then the message is delivered again. */
  ack(): void;
  /** Acknowledges the message and waits for the server's confirmation; false if none arrives within the deadline. */
  ackConfirmed(deadlineMs: number): Promise<boolean>;
  /** Marks the message as finished now; its ack follows. */
  finish(): void;
  /** Returns the unfinished message: it is delivered again, in order, before newer messages. */
  release(): void;
  /** Restarts the server's ack timeout while the work continues. */
  working(): void;
};

const ackPrefix = '$JS.ACK.';
const encode = (text: string): Uint8Array => Buffer.from(text);
const verbs = { ack: encode('+ACK'), working: encode('+WPI') };

/** Records the outcome of the messages that a reader received. */
export type MessageKeeper = {
  /** False if the sequence now belongs to another message, which the ack would acknowledge instead. */
  acknowledged(message: LogMessage): boolean;
  finished(message: LogMessage): void;
  released(message: LogMessage): void;
};

const nobody: MessageKeeper = {
  acknowledged: () => true,
  finished: () => undefined,
  released: () => undefined,
};

/** Reads a pulled message; undefined for a status message of the server. */
export function readLogMessage(
  connection: LogConnection,
  pulled: Msg,
  keeper: MessageKeeper = nobody,
): LogMessage | undefined {
  const reply = pulled.reply;
  if (reply === undefined || !reply.startsWith(ackPrefix)) return undefined;
  const tokens = reply.split('.');
  // $JS.ACK.<stream>.<consumer>.<delivered>.<stream seq>.<consumer seq>.<time>.<pending>; newer servers insert
  // <domain>.<account hash> after the prefix.
  const base = tokens.length >= 11 ? 6 : 4;
  const number = (index: number): number => Number(tokens[base + index]);
  const headers: MsgHdrs | undefined = pulled.headers;
  const answer = (verb: Uint8Array): void => {
    if (!connection[client].nc.isClosed()) connection[client].nc.publish(reply, verb);
  };
  const message: LogMessage = {
    subject: pulled.subject,
    data: pulled.data,
    timesHandedOut: number(0),
    seq: number(1),
    // A number does not have enough digits for nanoseconds.
    storedAtMs: Number((tokens[base + 3] ?? '').slice(0, -6)),
    consumerSeq: number(2),
    pending: number(4),
    header: (name) => {
      const value = headers?.get(name);
      return value === undefined || value === '' ? undefined : value;
    },
    ack() {
      if (keeper.acknowledged(message)) answer(verbs.ack);
    },
    async ackConfirmed(deadlineMs) {
      try {
        if (!keeper.acknowledged(message)) return true;
        await connection[client].nc.request(reply, verbs.ack, { timeout: deadlineMs });
        return true;
      } catch {
        return false;
      }
    },
    finish: () => keeper.finished(message),
    release: () => keeper.released(message),
    working: () => answer(verbs.working),
  };
  return message;
}
