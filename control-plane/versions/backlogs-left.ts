import { Type } from 'typebox';
import type { Static } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import type { SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import { entityName } from '../../shared/collections/kind-labels.ts';
import type { Snapshot } from '../../shared/collections/registry.ts';
import { conflict, unavailable } from '../api/api-error.ts';
import type { ApiError } from '../api/api-error.ts';
import { defineService } from '../api/services.ts';
import type { LogLook } from '../health/log-figures.ts';

const count = Type.Integer({ minimum: 0 });

/** Events that wait for a destination to which a new version no longer sends. */
export const backlogLeft = Type.Object({
  destinationId: Type.String(),
  name: Type.String(),
  change: Type.Enum(['removed', 'disabled']),
  waitingFrames: {
    ...count,
    description: 'Messages that the destination has not finished; a message contains one event or many.',
  },
  retryingFrames: { ...count, description: 'Messages that wait for another attempt.' },
  deadLetters: { ...count, description: 'Dead letters. They stay and can be replayed.' },
  needsForce: Type.Boolean({
    description: 'True if events are retried, or if the oldest waiting event has waited for PUBLISH_BACKLOG_AGE_MS.',
  }),
  unsentSince: nullable(
    Type.String({
      format: 'date-time',
      description:
        'Approximate time at which the oldest waiting event was resolved. Once the destination is live again, a replay ' +
        'of the log from this time sends the unsent events that the log still has. Null if no event waits.',
    }),
  ),
});

export type BacklogLeft = Static<typeof backlogLeft>;

type Leaving = Pick<BacklogLeft, 'destinationId' | 'name' | 'change'>;

/** Destinations that `live` sends to, and `next` does not. Pure. */
export function leavingDestinations(live: Snapshot, next: Snapshot): Leaving[] {
  const after = new Map(next.destinations.map((entity) => [entity.id, entity]));
  return live.destinations.filter(isEnabled).flatMap((entity): Leaving[] => {
    const kept = after.get(entity.id);
    if (kept !== undefined && isEnabled(kept)) return [];
    const name = entityName('destinations', entity);
    return [{ destinationId: entity.id, name, change: kept === undefined ? 'removed' : 'disabled' }];
  });
}

/** The services that `findBacklogsLeft` needs. */
export type BacklogServices = {
  readonly logFigures: LogLook;
  /** Events that have waited for less time are in flight: a busy destination always has some. */
  readonly backlogAgeMs: number;
  now(): Date;
};

/** How long events may wait before they count as a backlog, in ms. */
export const backlogAgeMs = defineService<number>('age of backlogs');

/** Whether a publish that would leave a backlog unsent needs `force`. */
export const guardsBacklogs = defineService<boolean>('guard of backlogs');

/**
 * The events that wait for each destination to which `next` no longer sends. Throws a 503 if the log cannot be reached.
 */
export async function findBacklogsLeft(
  { logFigures, now, backlogAgeMs }: BacklogServices,
  live: Snapshot,
  next: Snapshot,
): Promise<BacklogLeft[]> {
  const leaving = leavingDestinations(live, next);
  if (leaving.length === 0) return [];
  try {
    const figures = await logFigures.read();
    return await Promise.all(
      leaving.map(async (one) => {
        const backlog = figures.backlogOf(one.destinationId);
        const isNothing = backlog.waitingFrames + backlog.retryingFrames === 0;
        const sinceMs = isNothing ? undefined : await logFigures.unsentSince(one.destinationId);
        const isOld = sinceMs !== undefined && now().getTime() - sinceMs >= backlogAgeMs;
        const needsForce = backlog.retryingFrames > 0 || isOld;
        const unsentSince = sinceMs === undefined ? null : new Date(sinceMs).toISOString();
        return { ...one, ...backlog, needsForce, unsentSince };
      }),
    );
  } catch (error) {
    const failure = unavailable(
      'the log did not report which events wait for the removed or disabled destinations: try again, or set force',
    );
    failure.cause = error;
    throw failure;
  }
}

/** Why a version cannot go live without force; undefined if no events wait. */
export function refusalFor(left: readonly BacklogLeft[]): ApiError | undefined {
  const waiting = left.filter(({ needsForce }) => needsForce);
  if (waiting.length === 0) return undefined;
  return conflict(
    `force must be set: ${waiting.length} of the destinations that the version removes or disables still have events waiting`,
    waiting.map(describe).join('; '),
  );
}

/** Throws a 409 if a destination leaves that was not among those `checked`. */
export function refuseUnchecked(leaving: readonly Leaving[], checked: readonly Leaving[]): void {
  const ids = new Set(checked.map(({ destinationId }) => destinationId));
  const others = leaving.filter(({ destinationId }) => !ids.has(destinationId));
  if (others.length === 0) return;
  throw conflict(
    'the draft or the live version changed meanwhile, and the version would remove or disable more destinations: try again',
    others.map(({ name, destinationId }) => `${name} (${destinationId})`).join('; '),
  );
}

function describe({ name, destinationId, change, waitingFrames, retryingFrames, unsentSince }: BacklogLeft): string {
  const since = unsentSince === null ? '' : `, the oldest since ${unsentSince}`;
  return `${name} (${destinationId}) would be ${change}: ${waitingFrames} messages wait, ${retryingFrames} are retried${since}`;
}

function isEnabled(entity: SnapshotEntity): boolean {
  return entity['status'] === 'Enabled';
}
