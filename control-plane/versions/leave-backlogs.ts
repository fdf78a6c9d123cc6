import type { EntityManager } from '@mikro-orm/postgresql';
import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import type { Snapshot } from '../../shared/collections/registry.ts';
import type { CoreServices } from '../api/define-endpoint.ts';
import type { ServiceValues } from '../api/services.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { loadDraft } from '../draft/entity-store.ts';
import { logFigures } from '../health/log-figures.ts';
import {
  backlogAgeMs,
  findBacklogsLeft,
  guardsBacklogs,
  leavingDestinations,
  refusalFor,
  refuseUnchecked,
} from './backlogs-left.ts';
import type { BacklogLeft } from './backlogs-left.ts';
import { composeSnapshot } from './create-version.ts';
import type { VersionRequest } from './create-version.ts';
import { liveContent, versionContent } from './version-store.ts';

/** Services for the check that a publish leaves no events unsent. */
export const backlogs = { logFigures, backlogAgeMs, guardsBacklogs };

type BacklogGuard = CoreServices & ServiceValues<typeof backlogs>;

/** The field of every request that publishes. */
export const force = Type.Optional(
  nullable(
    Type.Boolean({
      description:
        'Publish although events wait for a destination that the version removes or disables. Without it, the reply is a 409 ' +
        'that lists the waiting events. They are not sent; they stay in the log until its retention ends, and a ' +
        'replay from `unsentSince` sends them once the destination is live again.',
    }),
  ),
);

/** The events that a publish leaves unsent. */
export type LeftBacklogs = {
  readonly left: readonly BacklogLeft[];
  /**
   * Call in the transaction that publishes, before the publish. Throws a 409 if an edit or a publish since the check
   * makes another destination leave, and `force` is not set.
   */
  confirm(em: EntityManager): Promise<void>;
};

/**
 * The events that wait for destinations to which `next` no longer sends. Throws a 409 if there are any and `force` is
 * not set. Called before the transaction, because the log may respond slowly.
 */
async function leaveBacklogs(
  services: BacklogGuard,
  accountId: string,
  isForced: boolean,
  nextOf: (em: EntityManager, live: Snapshot) => Promise<Snapshot>,
): Promise<LeftBacklogs> {
  const readBoth = async (em: EntityManager): Promise<[live: Snapshot, next: Snapshot]> => {
    const live = await liveContent(em, accountId, 'destinations');
    return [live, await nextOf(em, live)];
  };
  const isGuarded = services.guardsBacklogs && !isForced;
  const [live, next] = await readBoth(services.storage.fork());
  const found = await findBacklogsLeft(services, live, next).catch((error: unknown) => {
    // With force, or without the guard, the publish goes on even if the log cannot be reached.
    if (isGuarded) throw error;
    return [];
  });
  const refusal = isGuarded ? refusalFor(found) : undefined;
  if (refusal !== undefined) throw refusal;
  return {
    left: found.filter(({ unsentSince }) => unsentSince !== null),
    async confirm(em) {
      if (isGuarded) refuseUnchecked(leavingDestinations(...(await readBoth(em))), found);
    },
  };
}

/** As `leaveBacklogs`, for a publish of the draft. */
export function leaveBacklogsOfDraft(
  services: BacklogGuard,
  accountId: string,
  isForced: boolean,
  request: VersionRequest,
): Promise<LeftBacklogs> {
  return leaveBacklogs(services, accountId, isForced, async (em, live) =>
    composeSnapshot(live, await loadDraft(em, accountId, 'destinations'), request),
  );
}

/** As `leaveBacklogs`, for a publish of a stored version. */
export function leaveBacklogsOfVersion(
  services: BacklogGuard,
  accountId: string,
  isForced: boolean,
  id: string,
): Promise<LeftBacklogs> {
  return leaveBacklogs(
    services,
    accountId,
    isForced,
    async (em, live) => (await versionContent(em, accountId, id, 'destinations')) ?? live,
  );
}

/** Records in the audit trail, in the transaction that publishes, which events the version leaves unsent. */
export function recordLeft({ em, principal, now }: Editing, versionId: string, left: readonly BacklogLeft[]): void {
  if (left.length === 0) return;
  recordAudit(em, principal, { action: 'version.leave-backlogs', entityId: versionId, details: { left } }, now);
}
