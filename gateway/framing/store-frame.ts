import type { LogConnection } from '../../shared/log/connection.ts';
import { PublishError, publish } from '../../shared/log/publisher.ts';
import { ingestSubject } from '../../shared/log/subjects.ts';
import type { StoreFrame } from './group-commit.ts';

export type StoreFrameSettings = {
  /** Tells this process's frames from those of every other, and of its own earlier life. */
  readonly writerId: string;
  /** One try of a publish. */
  readonly timeoutMs: number;
};

/** Below this a publish is not even tried. */
const tryMsMin = 20;

/**
 * Publishes frames to the log. A try that was not answered is repeated once under the same id, so a frame that did
 * arrive is not stored twice.
 */
export function createStoreFrame(
  connection: LogConnection,
  settings: StoreFrameSettings,
  onSeconds: (seconds: number) => void,
): StoreFrame {
  let frames = 0;
  return async (partition, payload, deadlineAtMs) => {
    const startedMs = performance.now();
    const timeoutMs = Math.min(settings.timeoutMs, Math.floor((deadlineAtMs - startedMs - 200) / 2));
    if (timeoutMs < tryMsMin) return 'stalled';
    frames += 1;
    const msgId = `${settings.writerId}-${partition}-${frames}`;
    try {
      await publish(connection, ingestSubject(partition), payload, { msgId, timeoutMs, attemptsMax: 2 });
      onSeconds((performance.now() - startedMs) / 1000);
      return 'stored';
    } catch (error) {
      return error instanceof PublishError ? error.reason : 'refused';
    }
  };
}
