import type { MovedTo } from '../../../../shared/contracts/delivery-counts.ts';
import type { HealthKeeper } from '../health/health-keeper.ts';
import type { DispatchItem } from '../sources/dispatch-item.ts';
import { stageOf } from '../sources/stage-of.ts';

/** Counts a move of an event to another stage. Call it before the event's line is settled. */
export function countMove(health: Pick<HealthKeeper, 'countMove'>, item: DispatchItem, to: MovedTo): void {
  const from = stageOf(item.frame.source, item.attempts);
  // An event that the destination does not get was never counted in a stage.
  if (from === to || (to === 'skipped' && (from === 'log' || from === 'replay'))) return;
  health.countMove(item.head, from, to);
}
