import type { MovedTo, Stage } from '../../../../shared/contracts/delivery-counts.ts';
import { isParkedTier, isReplayTier } from '../../../../shared/contracts/events/retry-record.ts';
import type { HealthKeeper } from '../health/health-keeper.ts';
import type { DispatchItem } from '../sources/dispatch-item.ts';

/** Counts a move of an event to another stage. Call it before the event's line is settled. */
export function countMove(health: Pick<HealthKeeper, 'countMove'>, item: DispatchItem, to: MovedTo): void {
  const from = stageOf(item);
  // An event that the destination does not get was never counted in a stage.
  if (from === to || (to === 'skipped' && (from === 'log' || from === 'replay'))) return;
  health.countMove(item.head, from, to);
}

/** The stage of an event that waits in the retry log for its next attempt. */
export const waitingStage = (attempts: number): 'waiting' | 'retrying' => (attempts === 0 ? 'waiting' : 'retrying');

function stageOf({ frame: { source }, attempts }: DispatchItem): Stage {
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
