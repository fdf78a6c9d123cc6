import type { LoadResult } from '../load/load-result.ts';
import type { Point } from '../result/result.ts';

/**
 * What was accepted and not delivered, at each moment deliveries were counted. `delivered` counts from the first request
 * on, warm-up included; its seconds, and those of the load's windows, from the end of the warm-up.
 */
export function backlogOf(
  delivered: readonly Point[],
  load: Pick<LoadResult, 'windows' | 'acceptedInAll' | 'byStatus'>,
  eventsPerRequest: number,
): Point[] {
  const accepted = acceptedOver(load);
  return delivered.map(([atS, events]): Point => {
    // What arrives before its own answer does, is no backlog below zero.
    return [atS, Math.max(0, valueAt(accepted, atS) * eventsPerRequest - events)];
  });
}

/** Requests accepted in all, at the end of each window. */
function acceptedOver({ windows, acceptedInAll, byStatus }: Parameters<typeof backlogOf>[1]): Point[] {
  let accepted = acceptedInAll - (byStatus['200'] ?? 0);
  const points: Point[] = [[0, accepted]];
  let lastS = 0;
  for (const { atS, perSecond } of windows) {
    accepted += perSecond * (atS - lastS);
    lastS = atS;
    points.push([atS, accepted]);
  }
  return points;
}

/** Between two points in proportion; after the last one as there. */
function valueAt(points: readonly Point[], atS: number): number {
  const next = points.findIndex(([pointS]) => pointS >= atS);
  const [endS, end] = points.at(next) ?? [0, 0];
  const [startS, start] = points[next - 1] ?? [endS, end];
  if (next <= 0 || endS === startS) return end;
  return start + ((end - start) * (atS - startS)) / (endS - startS);
}
