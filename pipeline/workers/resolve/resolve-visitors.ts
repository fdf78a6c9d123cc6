import { VisitorsRefusedError } from '../../../shared/visitors/visitor-store.ts';
import type { VisitorOutcome, VisitorTouch } from '../../../shared/visitors/visitor-store.ts';
import { VisitorsUnavailableError } from '../../../shared/visitors/visitor-store.ts';
import { retry } from '../../../shared/runtime/retry.ts';
import type { ResolverContext } from './resolver-context.ts';

export type TouchOutcome =
  | VisitorOutcome
  /** The database will never take this event; the others are not held up by it. */
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Resolves the visitors of some events, in order. Waits as long as the database is away. A value it refuses is found
 * by halving the batch, so that only its own event is set aside.
 */
export async function resolveVisitors(
  context: ResolverContext,
  touches: readonly VisitorTouch[],
): Promise<readonly TouchOutcome[]> {
  const { counts, logger, visitors, signal } = context;
  if (touches.length === 0) return [];
  try {
    const resolved = await retry(() => visitors.resolve(touches), {
      signal,
      isPassing: (error) => error instanceof VisitorsUnavailableError,
      onRetry: (error, attempt) => {
        counts.visitor_retries += 1;
        if (attempt === 3) logger.warn({ err: error }, 'visitors cannot be reached, retrying');
      },
    });
    counts.visitors_created += resolved.created;
    counts.visitors_updated += resolved.updated;
    counts.visitors_merged += resolved.merged;
    counts.visitors_oversized += resolved.oversized;
    return resolved.outcomes;
  } catch (error) {
    if (!(error instanceof VisitorsRefusedError)) throw error;
    if (touches.length === 1) return [{ kind: 'refused', reason: error.message }];
    const middle = Math.ceil(touches.length / 2);
    const first = await resolveVisitors(context, touches.slice(0, middle));
    return [...first, ...(await resolveVisitors(context, touches.slice(middle)))];
  }
}
