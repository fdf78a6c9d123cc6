import { ErrorCode, NatsError } from 'nats';
import type { Msg, MsgHdrs, NatsConnection } from 'nats';

/** Why there is no answer. Except after `too_large`, the server may have done what was requested. */
export type Unanswered = 'timeout' | 'disconnected' | 'too_large';

export type AskOptions = { readonly headers?: MsgHdrs; readonly timeoutMs: number };

/** Sends requests to servers over one connection. */
export type Asker = {
  /** Sends the request once; never rejects. An answer without data means that the subject has no subscriber. */
  ask(subject: string, payload: Uint8Array, options: AskOptions): Promise<Msg | Unanswered>;
  /** Call it when the connection is lost: every waiting request resolves with 'disconnected'. */
  disconnected(): void;
};

const tooLarge: string = ErrorCode.MaxPayloadExceeded;

type Waiting = { readonly resolve: (answer: Msg | Unanswered) => void; readonly timer: NodeJS.Timeout };

/**
 * The client's `request` subscribes and creates an error with a stack for each message. Here all answers arrive on one
 * subscription, and a number in the answer's subject identifies the request, at a third of the cost.
 */
export function createAsker(nc: NatsConnection, createInbox: () => string): Asker {
  const waiting = new Map<string, Waiting>();
  let inbox: string | undefined;
  let asked = 0;
  const settle = (reply: string, answer: Msg | Unanswered): void => {
    const found = waiting.get(reply);
    if (found === undefined) return;
    waiting.delete(reply);
    clearTimeout(found.timer);
    found.resolve(answer);
  };
  const listen = (): string => {
    const prefix = createInbox();
    nc.subscribe(`${prefix}.*`, {
      callback: (error, message) => {
        if (error === null) settle(message.subject, message);
      },
    });
    return prefix;
  };
  return {
    ask(subject, payload, { headers, timeoutMs }) {
      if (nc.isClosed()) return Promise.resolve('disconnected');
      if (payload.length > (nc.info?.max_payload ?? Number.POSITIVE_INFINITY)) return Promise.resolve('too_large');
      inbox ??= listen();
      asked += 1;
      const reply = `${inbox}.${asked}`;
      return new Promise((resolve) => {
        const timer = setTimeout(() => settle(reply, 'timeout'), timeoutMs);
        waiting.set(reply, { resolve, timer });
        try {
          nc.publish(subject, payload, headers === undefined ? { reply } : { reply, headers });
        } catch (error) {
          // With its headers the message is too large, or the connection was closed since the check.
          settle(reply, error instanceof NatsError && error.code === tooLarge ? 'too_large' : 'disconnected');
        }
      });
    },
    disconnected() {
      for (const reply of waiting.keys()) settle(reply, 'disconnected');
    },
  };
}
