import { NatsError, ErrorCode } from 'nats';
import type { ApiError, Msg } from 'nats';
import { decodeJson } from '../../runtime/json.ts';
import type { Unanswered } from './asker.ts';

/**
 * JetStream's refusals by `err_code`, from `server/errors.json` of nats-server. Their texts change between versions.
 */
export const serverErrors = {
  accountResourcesExceeded: 10_002,
  noSuitablePeers: 10_005,
  temporarilyUnavailable: 10_008,
  consumerNotFound: 10_014,
  insufficientResources: 10_023,
  memoryResourcesExceeded: 10_028,
  noMessageFound: 10_037,
  sequenceNotFound: 10_043,
  storageResourcesExceeded: 10_047,
  messageTooLarge: 10_054,
  messageDeleteFailed: 10_057,
  streamNameInUse: 10_058,
  streamNotFound: 10_059,
  wrongLastSequence: 10_071,
  replicasNotSupported: 10_074,
  storeFailed: 10_077,
  headersTooLarge: 10_097,
  consumerAlreadyExists: 10_148,
  duplicateInProcess: 10_158,
  wrongLastSequenceInProcess: 10_164,
  tooManyRequests: 10_167,
} as const;

/** The code of a refusal that the client library threw; undefined for any other error. */
export function serverErrorCode(error: unknown): number | undefined {
  return error instanceof NatsError ? error.api_error?.err_code : undefined;
}

const { streamNotFound, consumerNotFound } = serverErrors;
const { noMessageFound, sequenceNotFound, messageDeleteFailed, storeFailed } = serverErrors;

/** Whether JetStream answered that the stream or consumer does not exist. */
export function isNotFound(error: unknown): boolean {
  const code = serverErrorCode(error);
  return code === streamNotFound || code === consumerNotFound;
}

/** Whether the server answered that the message does not exist. */
export function isNoMessage(error: unknown): boolean {
  const code = serverErrorCode(error);
  if (code === noMessageFound || code === sequenceNotFound) return true;
  // Only the text of a failed deletion contains the reason.
  return code === messageDeleteFailed && error instanceof Error && /no message found/.test(error.message);
}

const codeOf = {
  timeout: ErrorCode.Timeout,
  disconnected: ErrorCode.Disconnect,
  too_large: ErrorCode.MaxPayloadExceeded,
} as const satisfies Record<Unanswered, ErrorCode>;

/** A missing answer as the error that the client library would throw. */
export function unansweredError(reason: Unanswered): NatsError {
  return NatsError.errorForCode(codeOf[reason]);
}

/**
 * A refusal as the error that the client library would throw. An answer without data means that the subject has no
 * subscriber.
 */
export function answeredError(answer: Msg): Error {
  if (answer.data.length === 0) return NatsError.errorForCode(ErrorCode.NoResponders);
  const { error } = (decodeJson(answer.data) ?? {}) as { readonly error?: ApiError };
  if (error === undefined) return new Error(answer.string());
  const refusal = new NatsError(error.description, String(error.code));
  refusal.api_error = error;
  return refusal;
}

const forbidden: string = ErrorCode.PermissionsViolation;

/** Whether the server refused because the user lacks the right. */
export function isNotPermitted(error: unknown): boolean {
  return error instanceof NatsError && error.code === forbidden;
}

const nobodyAnswers: string = ErrorCode.NoResponders;
const noRoom: ReadonlySet<number> = new Set([
  serverErrors.insufficientResources,
  serverErrors.storageResourcesExceeded,
]);

const unanswered: ReadonlySet<string> = new Set([
  ErrorCode.NoResponders,
  ErrorCode.Timeout,
  ErrorCode.Disconnect,
  ErrorCode.ConnectionClosed,
  ErrorCode.ConnectionDraining,
]);
const httpUnavailable = 503;
const causesMax = 5;

/**
 * Whether the cause of a failure is the log: it does not answer, is full, or has no leader. The request was correct and
 * may be repeated.
 */
export function isLogUnavailable(error: unknown): boolean {
  let at = error;
  for (let depth = 0; depth < causesMax && at instanceof Error; depth += 1) {
    if (at instanceof NatsError) {
      if (at.api_error === undefined) return unanswered.has(at.code);
      const { code, err_code: refusal } = at.api_error;
      return code === httpUnavailable || (refusal !== undefined && (noRoom.has(refusal) || refusal === storeFailed));
    }
    at = at.cause;
  }
  return false;
}

/**
 * Describes a failed JetStream request for the operator. For the most common mistakes the client library has only a
 * number.
 */
export function jetStreamFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof NatsError)) return error.message;
  if (error.api_error !== undefined) {
    const { description, err_code: code } = error.api_error;
    if (code === undefined || !noRoom.has(code)) return description;
    return `${description}: nats-server has a lower storage limit than the streams together. Raise its max_file_store if the disk has room, otherwise lower LOG_*_BYTES_MAX`;
  }
  if (error.code === nobodyAnswers) {
    return 'JetStream does not answer: nats-server runs without it (start it as nats-server -js), or its cluster has no leader yet';
  }
  return error.message;
}
