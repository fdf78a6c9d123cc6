import type { Stage } from '../../../../shared/contracts/delivery-counts.ts';
import { isParkedTier, isReplayTier } from '../../../../shared/contracts/events/retry-record.ts';
import type { FrameSource } from './frames-in-flight.ts';

/** The stage in which an event is counted until it leaves its frame. */
export function stageOf(source: FrameSource, attempts: number): Stage {
  switch (source.kind) {
    case 'log':
      return 'log';
    case 'parked':
      return 'waiting';
    case 'retry':
      if (isReplayTier(source.frame.tier)) return 'replay';
      return isParkedTier(source.frame.tier) ? 'waiting' : waitingStage(attempts);
  }
}

/** The stage of an event that waits in the retry log for its next attempt. */
export const waitingStage = (attempts: number): 'waiting' | 'retrying' => (attempts === 0 ? 'waiting' : 'retrying');
