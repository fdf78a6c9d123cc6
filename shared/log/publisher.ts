import { headers as createHeaders } from 'nats';
import type { NatsError } from 'nats';
import type { LogConnection } from './connection.ts';

export type PublishOptions = {
  /** `Nats-Msg-Id`: the same id inside the stream's duplicate window lands once, so a publish may be repeated. */
  readonly msgId: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long one try may take, in ms. */
  readonly timeoutMs: number;
  /** Tries in all; a try whose answer was lost is repeated under the same id. Default 1. */
  readonly attemptsMax?: number;
};

export type Published = { readonly seq: number; readonly duplicate: boolean };

/** Why the log did not take a message. `full`: the stream is at its limit. */
export type PublishFailure = 'disconnected' | 'timeout' | 'full' | 'too_large' | 'refused';

export class PublishError extends Error {
  readonly code = 'publish_failed';
  readonly reason: PublishFailure;
  constructor(reason: PublishFailure, subject: string, cause?: unknown) {
    super(`publishing to ${subject}: ${reason}`, { cause });
    this.reason = reason;
  }
}

/** Stores one message and returns once JetStream has acknowledged it. Throws PublishError. */
export async function publish(
  connection: LogConnection,
  subject: string,
  payload: Uint8Array,
  options: PublishOptions,
): Promise<Published> {
  const attemptsMax = options.attemptsMax ?? 1;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await publishOnce(connection, subject, payload, options);
    } catch (error) {
      const failure = asPublishError(subject, error);
      const repeatable = failure.reason === 'timeout' || failure.reason === 'disconnected';
      if (!repeatable || attempt >= attemptsMax) throw failure;
      await new Promise((resolve) => setTimeout(resolve, Math.min(50 * 2 ** attempt, 1_000)));
    }
  }
}

async function publishOnce(
  connection: LogConnection,
  subject: string,
  payload: Uint8Array,
  options: PublishOptions,
): Promise<Published> {
  // The client keeps no reconnect buffer worth the name: what is written while down is dropped.
  if (!connection.connected) throw new PublishError('disconnected', subject);
  const publishOptions = { msgID: options.msgId, timeout: options.timeoutMs };
  if (options.headers === undefined) {
    const { seq, duplicate } = await connection.js.publish(subject, payload, publishOptions);
    return { seq, duplicate };
  }
  const headers = createHeaders();
  for (const [name, value] of Object.entries(options.headers)) headers.set(name, value);
  const { seq, duplicate } = await connection.js.publish(subject, payload, { ...publishOptions, headers });
  return { seq, duplicate };
}

function asPublishError(subject: string, error: unknown): PublishError {
  if (error instanceof PublishError) return error;
  const natsError = error as Partial<NatsError>;
  const description = natsError.api_error?.description ?? '';
  if (natsError.code === 'TIMEOUT') return new PublishError('timeout', subject, error);
  if (natsError.code === 'MAX_PAYLOAD_EXCEEDED') return new PublishError('too_large', subject, error);
  if (natsError.code === 'CONNECTION_CLOSED' || natsError.code === 'CONNECTION_DRAINING') {
    return new PublishError('disconnected', subject, error);
  }
  return new PublishError(failureOfAnswer(description), subject, error);
}

/** What a refusal in the server's words means. */
export function failureOfAnswer(description: string): 'full' | 'refused' {
  return /maximum (bytes|messages)|insufficient (resources|storage)/i.test(description) ? 'full' : 'refused';
}
