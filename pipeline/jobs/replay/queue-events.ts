import { createHash } from 'node:crypto';
import { FrameWriter } from '../../../shared/contracts/events/frame.ts';
import type { ResolvedEvent } from '../../../shared/contracts/events/resolved-event.ts';
import { encodeRetryRecord, replayTier } from '../../../shared/contracts/events/retry-record.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { countBySubject } from '../../../shared/nats/messages/subject-log.ts';
import { retrySubject } from '../../../shared/contracts/subjects.ts';
import { crowdBackoff } from '../../../shared/runtime/retry.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import type { ReplayJob } from '../../../shared/contracts/replay-job.ts';
import { publishWithRetry } from '../../../shared/nats/publish/publisher.ts';

/** An event of a replay and the message it is from. */
export type ReplayedEvent = { readonly seq: number; readonly event: ResolvedEvent };

/** Frames of a replay before the destination at a time: the retry log is for everybody's retries. */
const framesWaitingMax = 16;
const frameBytesMax = 256 * 1024;
const roomEveryMinMs = 100;
const roomEveryMaxMs = 2_000;

/**
 * Puts events before the dispatcher of a destination, in the retry log, as far as there is room. A frame that is put
 * there again is known by what is in it: by its place in the replay it would be taken for another one, should part of
 * what it held be gone meanwhile.
 */
export async function queueEvents(
  connection: LogConnection,
  { id, destinationId }: ReplayJob,
  events: readonly ReplayedEvent[],
  signal: AbortSignal,
): Promise<void> {
  const subject = retrySubject(destinationId, replayTier);
  for (const { payload, digest } of framesOf(events)) {
    await waitForRoom(connection, subject, signal);
    const msgId = `replay.${id}.${digest}`;
    await publishWithRetry(connection, { subject, payload, msgId }, { signal, backoff: crowdBackoff });
  }
  signal.throwIfAborted();
}

type Frame = { readonly payload: Uint8Array; readonly digest: string };

function framesOf(events: readonly ReplayedEvent[]): Frame[] {
  const nowMs = Date.now();
  const times = { firstAttemptAt: nowMs, lastAttemptAt: nowMs, notBefore: nowMs };
  const frames: Frame[] = [];
  const writer = new FrameWriter();
  let digest = createHash('sha256');
  const close = (): void => {
    if (writer.length > 0) frames.push({ payload: writer.bytes(), digest: digest.digest('base64url') });
    writer.reset();
    digest = createHash('sha256');
  };
  for (const { seq, event } of events) {
    const line = encodeRetryRecord({ v: 1, attempts: 0, ...times, reason: 'replay', event });
    if (writer.length + line.length > frameBytesMax) close();
    writer.appendLine(line);
    digest.update(`${seq}\n${event.event.id}\n`);
  }
  close();
  return frames;
}

async function waitForRoom(connection: LogConnection, subject: string, signal: AbortSignal): Promise<void> {
  for (let everyMs = roomEveryMinMs; ; everyMs = Math.min(everyMs * 2, roomEveryMaxMs)) {
    signal.throwIfAborted();
    const waiting = (await countBySubject(connection, streams.retry, subject)).get(subject) ?? 0;
    if (waiting < framesWaitingMax) return;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
