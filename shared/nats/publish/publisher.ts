import { ErrorCode, NatsError, headers as createHeaders } from 'nats';
import type { MsgHdrs } from 'nats';
import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';
import { isRepeatable, readPublishAnswer } from './publish-answer.ts';
import type { PublishFailure } from './publish-answer.ts';
import { answeredError, unansweredError } from '../connection/server-error.ts';
import { msgIdHeader } from '../messages/subject-log.ts';
import { retry } from '../../runtime/retry.ts';
import type { Backoff } from '../../runtime/retry.ts';
import { streamOf } from '../streams/topology.ts';

export type PublishOptions = {
  /** `Nats-Msg-Id`: the same id within the stream's duplicate window is stored once, so a publish may be repeated. */
  readonly msgId: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long one try may take, in ms. */
  readonly timeoutMs: number;
};

/**
 * Header with the sequence that the subject's last message must have; 0 if there must be no message. If the sequence
 * differs, the log refuses the publish.
 */
export const expectedLastHeader = 'Nats-Expected-Last-Subject-Sequence';

export type Published = { readonly seq: number; readonly duplicate: boolean };

export class PublishError extends Error {
  readonly code = 'publish_failed';
  readonly reason: PublishFailure;
  constructor(reason: PublishFailure, subject: string, cause?: unknown) {
    super(`publishing to ${subject}: ${reason}`, { cause });
    this.reason = reason;
  }
}

/** Tries once to store a message; returns once JetStream has acknowledged it. Throws PublishError. */
export async function publish(
  connection: LogConnection,
  subject: string,
  payload: Uint8Array,
  options: PublishOptions,
): Promise<Published> {
  // The client has no useful reconnect buffer: data written while disconnected is dropped.
  if (!connection.connected) throw new PublishError('disconnected', subject);
  const { timeoutMs } = options;
  const message = await connection[client].asker.ask(subject, payload, { timeoutMs, headers: publishHeaders(options) });
  if (typeof message === 'string') throw new PublishError(message, subject, unansweredError(message));
  const answer = readPublishAnswer(message.data, streamOf(subject));
  if (answer.kind === 'stored') return { seq: answer.seq, duplicate: answer.duplicate };
  throw new PublishError(answer.reason, subject, answeredError(message));
}

export type OutgoingMessage = Omit<PublishOptions, 'timeoutMs'> & {
  readonly subject: string;
  readonly payload: Uint8Array;
};

/** How a publish is repeated, always with the same id. By default there is no limit, whatever the log answers. */
export type PublishRetry = {
  /** Ends the tries; the promise then rejects with its reason. */
  readonly signal?: AbortSignal;
  /** How long one try may take, in ms. */
  readonly timeoutMs?: number;
  readonly backoff?: Backoff;
  /**
   * Maximum number of tries. If it is given, a failed try is repeated only if the message may have been stored, or may
   * be stored soon.
   */
  readonly attemptsMax?: number;
  /** Called with each failure; returns whether to try again. If it is given, `attemptsMax` has no effect. */
  mayTry?(reason: PublishFailure): boolean;
  onRetry?(reason: PublishFailure, attempt: number): void;
};

const tryTimeoutMs = 5_000;

/** Publishes until the log has stored the message. Throws PublishError if a limit in the options ends the tries. */
export function publishWithRetry(
  connection: LogConnection,
  message: OutgoingMessage,
  { signal, backoff, timeoutMs = tryTimeoutMs, attemptsMax, mayTry, onRetry }: PublishRetry,
): Promise<Published> {
  const { subject, payload } = message;
  const publishOnce = () => publish(connection, subject, payload, { timeoutMs, ...message });
  return retry(publishOnce, {
    signal,
    backoff,
    isPassing: (error, attempt) =>
      error instanceof PublishError &&
      (mayTry?.(error.reason) ?? (attemptsMax === undefined || (attempt < attemptsMax && isRepeatable(error.reason)))),
    onRetry: (error, attempt) => {
      if (error instanceof PublishError) onRetry?.(error.reason, attempt);
    },
  });
}

export type TryLimits = {
  /** Maximum number of tries that failed because the log is full. */
  readonly fullMax: number;
  /** Maximum number of tries that failed for another reason, for example because a stream has no leader. */
  readonly othersMax: number;
};

/**
 * A `mayTry` for a message that the caller stores elsewhere, or records as skipped, if the log refuses it. Tries made
 * while the log is unreachable do not count: nothing else could be stored or acknowledged then either.
 */
export function limitTries({ fullMax, othersMax }: TryLimits): (reason: PublishFailure) => boolean {
  let [full, others] = [0, 0];
  return (reason) => {
    if (reason === 'disconnected') return true;
    if (reason === 'too_large') return false;
    if (reason === 'full') return (full += 1) < fullMax;
    return (others += 1) < othersMax;
  };
}

/** The headers of a message, including its id. */
export function publishHeaders({ msgId, headers = {} }: Pick<PublishOptions, 'msgId' | 'headers'>): MsgHdrs {
  const written = createHeaders();
  written.set(msgIdHeader, msgId);
  for (const [name, value] of Object.entries(headers)) written.set(name, value);
  return written;
}

const failureOfClientCode: ReadonlyMap<string, PublishFailure> = new Map([
  [ErrorCode.Timeout, 'timeout'],
  [ErrorCode.MaxPayloadExceeded, 'too_large'],
  [ErrorCode.ConnectionClosed, 'disconnected'],
  [ErrorCode.ConnectionDraining, 'disconnected'],
]);

/** Converts an error of the client library to a PublishError. */
export function asPublishError(subject: string, error: unknown): PublishError {
  if (error instanceof PublishError) return error;
  const reason = error instanceof NatsError ? failureOfClientCode.get(error.code) : undefined;
  return new PublishError(reason ?? 'refused', subject, error);
}
