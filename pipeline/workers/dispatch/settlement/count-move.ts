import type { MovedTo, Stage } from '../../../../shared/contracts/delivery-counts.ts';
import { isParkedTier, isReplayTier } from '../../../../shared/contracts/events/retry-record.ts';
import type { HealthKeeper } from '../health/health-keeper.ts';
import type { DispatchItem } from '../sources/dispatch-item.ts';

/** Counts a move of an event, before its line is settled; nothing if the event stays in its stage. */
export function countMove(health: Pick<HealthKeeper, 'countMove'>, item: DispatchItem, to: MovedTo): void {
  const from = stageOf(item);
  // An event that is not for the destination never entered.
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
