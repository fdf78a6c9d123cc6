import { serverErrors } from '../connection/server-error.ts';

/**
 * Why the log did not store a message. `full`: the stream, or the server, is at its limit. `busy`: the log cannot store
 * it now, for example because an earlier try with the same id is undecided; the try may be repeated with that id.
 * `not_last`: the expected message is not the last one of the subject.
 */
export type PublishFailure = 'disconnected' | 'timeout' | 'busy' | 'full' | 'too_large' | 'not_last' | 'refused';

/** The log's answer to a publish. `duplicate`: a message with the same id was stored before, at `seq`. */
export type PublishAnswer =
  | { readonly kind: 'stored'; readonly seq: number; readonly duplicate: boolean }
  | { readonly kind: 'failed'; readonly reason: PublishFailure };

/**
 * Reads JetStream's answer to a publish. A message is stored only if the answer names `stream` and a sequence: servers
 * before 2.12 answer a repeated id with `"duplicate": true` and sequence 0 if they have only seen the id, and may never
 * store the message.
 */
export function readPublishAnswer(data: Uint8Array, stream: string | undefined): PublishAnswer {
  // The subject has no subscriber: the stream does not exist, or has no leader.
  if (data.length === 0) return failed('refused');
  const answer = parse(data);
  if (answer === undefined) return failed('refused');
  if (answer.error !== undefined) return failed(failureOfCode(answer.error.err_code));
  if (answer.stream !== stream) return failed('refused');
  if (!isSequence(answer.seq)) return failed('busy');
  return { kind: 'stored', seq: answer.seq, duplicate: answer.duplicate === true };
}

/**
 * Reads the answer to the last message of an atomic batch, like `readPublishAnswer`. The batch is stored only if the
 * answer names batch `id` and counts `count` messages.
 */
export function readBatchAnswer(
  data: Uint8Array,
  stream: string | undefined,
  id: string,
  count: number,
): PublishAnswer {
  const answer = readPublishAnswer(data, stream);
  if (answer.kind === 'failed') return answer;
  const { batch, count: stored } = parse(data) ?? {};
  return batch === id && stored === count ? answer : failed('refused');
}

/** Whether the value can be the sequence of a stored message. */
export function isSequence(seq: unknown): seq is number {
  return Number.isSafeInteger(seq) && Number(seq) > 0;
}

/** Whether the same message may be published again under the same id. */
export function isRepeatable(failure: PublishFailure): boolean {
  return failure === 'timeout' || failure === 'disconnected' || failure === 'busy';
}

type WireAnswer = {
  readonly stream?: unknown;
  readonly seq?: unknown;
  readonly duplicate?: unknown;
  readonly batch?: unknown;
  readonly count?: unknown;
  readonly error?: { readonly err_code?: number };
};

function parse(data: Uint8Array): WireAnswer | undefined {
  try {
    const text = Buffer.from(data.buffer, data.byteOffset, data.length).toString();
    return (JSON.parse(text) as WireAnswer | null) ?? undefined;
  } catch {
    return undefined;
  }
}

const failureOfCodes: ReadonlyMap<number | undefined, PublishFailure> = new Map([
  [serverErrors.duplicateInProcess, 'busy'],
  [serverErrors.wrongLastSequenceInProcess, 'busy'],
  [serverErrors.tooManyRequests, 'busy'],
  [serverErrors.temporarilyUnavailable, 'busy'],
  [serverErrors.storeFailed, 'full'],
  [serverErrors.insufficientResources, 'full'],
  [serverErrors.storageResourcesExceeded, 'full'],
  [serverErrors.memoryResourcesExceeded, 'full'],
  [serverErrors.accountResourcesExceeded, 'full'],
  [serverErrors.messageTooLarge, 'too_large'],
  [serverErrors.headersTooLarge, 'too_large'],
  [serverErrors.wrongLastSequence, 'not_last'],
]);

export const failureOfCode = (code: number | undefined): PublishFailure => failureOfCodes.get(code) ?? 'refused';

const failed = (reason: PublishFailure): PublishAnswer => ({ kind: 'failed', reason });
