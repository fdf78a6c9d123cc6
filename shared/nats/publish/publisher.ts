import { ErrorCode, NatsError, headers as createHeaders } from 'nats';
import type { Msg, MsgHdrs } from 'nats';
import type { LogConnection } from '../connection/connection.ts';
import { isRepeatable, readPublishAnswer } from './publish-answer.ts';
import type { PublishFailure } from './publish-answer.ts';
import { streamOf } from '../streams/topology.ts';

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
      if (!isRepeatable(failure.reason) || attempt >= attemptsMax) throw failure;
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
  const headers = publishHeaders(options);
  const message: Msg = await connection.nc.request(subject, payload, { timeout: options.timeoutMs, headers });
  const answer = readPublishAnswer(message.data, streamOf(subject));
  if (answer.kind === 'stored') return { seq: answer.seq, duplicate: answer.duplicate };
  throw new PublishError(answer.reason, subject, new Error(message.string()));
}

/** The headers of a message, its id among them. */
export function publishHeaders({ msgId, headers = {} }: Pick<PublishOptions, 'msgId' | 'headers'>): MsgHdrs {
  const written = createHeaders();
  written.set('Nats-Msg-Id', msgId);
  for (const [name, value] of Object.entries(headers)) written.set(name, value);
  return written;
}

const failureOfClientCode: ReadonlyMap<string, PublishFailure> = new Map([
  [ErrorCode.Timeout, 'timeout'],
  [ErrorCode.MaxPayloadExceeded, 'too_large'],
  [ErrorCode.ConnectionClosed, 'disconnected'],
  [ErrorCode.ConnectionDraining, 'disconnected'],
]);

/** What the client library threw, in our words. */
export function asPublishError(subject: string, error: unknown): PublishError {
  if (error instanceof PublishError) return error;
  const reason = error instanceof NatsError ? failureOfClientCode.get(error.code) : undefined;
  return new PublishError(reason ?? 'refused', subject, error);
}
