import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { eraseVisitor } from '../visitors/erase-visitor.ts';
import type { ErasureRequest, EraseOptions } from '../visitors/erase-visitor.ts';
import { nothingLeftOut } from '../visitors/visitor-store.ts';
import type { LeftOut, VisitorOutcome, VisitorStore } from '../visitors/visitor-store.ts';

/** A visitor store whose look-ups find nothing, so that `resolve` writes every visitor. */
export function resolvedBy(resolve: VisitorStore['resolve']): Pick<VisitorStore, 'resolve' | 'lookUp' | 'distrust'> {
  return {
    distrust: () => undefined,
    resolve,
    lookUp: async (touches) => ({
      outcomes: touches.map(() => undefined),
      write: () => resolve(touches),
    }),
  };
}

/** Sums, by reason, the changes that events requested and that were refused. */
export function sumLeftOut(outcomes: readonly VisitorOutcome[]): LeftOut {
  const sum: Record<keyof LeftOut, number> = { ...nothingLeftOut };
  for (const outcome of outcomes) {
    if (outcome.kind !== 'resolved' || outcome.leftOut === undefined) continue;
    for (const reason of Object.keys(sum) as (keyof LeftOut)[]) sum[reason] += outcome.leftOut[reason];
  }
  return sum;
}

/** Erases a visitor as the control plane does, by default without an announcement. Returns the erased ids. */
export async function eraseFor(
  pool: Pool,
  request: Omit<ErasureRequest, 'actor'>,
  options: Partial<EraseOptions> = {},
): Promise<readonly string[]> {
  const nothing = async (): Promise<void> => {};
  const onLeftAhead = (error: unknown): never => {
    throw error;
  };
  const all = { now: Date.now, announce: nothing, audit: nothing, forward: nothing, onLeftAhead, ...options };
  return (await eraseVisitor(pool, { ...request, actor: { id: randomUUID(), name: 'test' } }, all)).ids;
}
