import type { EntityManager } from '@mikro-orm/postgresql';
import type { JsonObject } from '../../shared/process/json.ts';
import { AuditEntry } from '../../shared/storage/entities/audit-entry.ts';
import type { Actor } from '../keys/actor.ts';

export type AuditedAction = {
  /** `destination.update`, `version.publish`: the noun and what was done to it. */
  readonly action: string;
  readonly collection?: string;
  readonly entityId?: string;
  /** Names of fields and counts; never a value a client sent. */
  readonly details?: JsonObject;
};

/** Notes who did what, in the transaction that does it. */
export function recordAudit(em: EntityManager, actor: Actor, audited: AuditedAction, now: Date): void {
  em.persist(
    em.create(AuditEntry, {
      accountId: actor.accountId,
      at: now,
      actorId: actor.keyId,
      actorName: actor.keyName,
      action: audited.action,
      collection: audited.collection ?? null,
      entityId: audited.entityId ?? null,
      details: audited.details ?? {},
    }),
  );
}
