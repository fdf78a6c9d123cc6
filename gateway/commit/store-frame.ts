import type { FramePublisher } from '../../shared/nats/publish/frame-publisher.ts';
import { isRepeatable } from '../../shared/nats/publish/publish-answer.ts';
import { PublishError } from '../../shared/nats/publish/publisher.ts';
import { retry } from '../../shared/runtime/retry.ts';
import type { Backoff } from '../../shared/runtime/retry.ts';
import { ingestSubject } from '../../shared/contracts/subjects.ts';
import type { StoreFrame } from './group-commit.ts';

export type StoreFrameSettings = {
  /** Identifies the frames of this run of this process. */
  readonly writerId: string;
  /** Timeout of one try of a publish, in ms. */
  readonly timeoutMs: number;
};

const unansweredMax = 2;
/** With less time than this left, in ms, a publish is not tried. */
const tryMsMin = 20;
/** Time kept free before the deadline for all work except the publish, including the pause before another try. */
const reservedMs = 200;
const pauses: Backoff = { firstMs: 100, longestMs: 100 };
/** Time kept free before the deadline for the answer after the last try. */
const answeringMs = 50;

/**
 * Publishes frames to the log. A try without an answer is repeated once with the same id, so that a frame is not stored
 * twice. A replicated log without a quorum answers that it has not decided yet, and stores the frame once it has a
 * leader again: after this answer, the publish is repeated until the deadline.
 */
export function createStoreFrame(
  publisher: FramePublisher,
  settings: StoreFrameSettings,
  onSeconds: (seconds: number) => void,
): StoreFrame {
  let frames = 0;
  return async (partition, payload, deadlineAtMs) => {
    const startedMs = performance.now();
    const timeoutMs = Math.min(settings.timeoutMs, Math.floor((deadlineAtMs - startedMs - reservedMs) / unansweredMax));
    if (timeoutMs < tryMsMin) return 'stalled';
    frames += 1;
    const msgId = `${settings.writerId}-${partition}-${frames}`;
    const subject = ingestSubject(partition);
    const lastTryAtMs = deadlineAtMs - answeringMs - timeoutMs;
    let unanswered = 0;
    const publishOnce = async (): Promise<void> => {
      const failure = await publisher.publish(subject, payload, msgId, timeoutMs);
      if (failure !== undefined) throw new PublishError(failure, subject);
    };
    const isPassing = (error: unknown): boolean => {
      if (!(error instanceof PublishError) || !isRepeatable(error.reason)) return false;
      if (error.reason !== 'busy') unanswered += 1;
      return unanswered < unansweredMax && performance.now() + pauses.longestMs <= lastTryAtMs;
    };
    try {
      await retry(publishOnce, { backoff: pauses, isPassing });
    } catch (error) {
      if (error instanceof PublishError) return error.reason;
      throw error;
    }
    onSeconds((performance.now() - startedMs) / 1000);
    return 'stored';
  };
}
