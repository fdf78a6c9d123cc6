import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { Principal } from '../api/define-endpoint.ts';

/** A read of personal data, recorded before the reply is sent. */
export type AuditedRead = {
  /** `event.list`, `dead-letter.list`: the noun and how it was read. */
  readonly action: string;
  readonly entityId: string | undefined;
  /** The scope of the key that allowed the read. */
  readonly scope: string | undefined;
  /** Names of the filters that were given, without their values. */
  readonly filters: readonly string[];
  /** Hash of the request, by which a repeated read is recognized. It is not stored. */
  readonly requestHash: string;
  /** Entities in the reply; undefined for a live stream. */
  readonly rows: number | undefined;
  /** Whether values are masked in the answer. */
  readonly isMasked: boolean;
};

/** Pages poll every few seconds, so within this time repeated reads with the same key are recorded only once. */
const sameReadMs = 300_000;
const rememberedMax = 10_000;

/** Records who read which data. Throws if a read cannot be recorded, so that the data is not returned. */
export function createReadAudit({ pool, now }: { readonly pool: Pool; now(): Date }) {
  const recorded = new LRUCache<string, true>({ max: rememberedMax, ttl: sameReadMs });
  return async (principal: Principal, read: AuditedRead): Promise<void> => {
    const { accountId, kind, id, name } = principal;
    const { action, entityId, scope, filters, requestHash, rows, isMasked } = read;
    const key = JSON.stringify([accountId, id, action, entityId, filters, requestHash, isMasked]);
    if (recorded.has(key)) return;
    const details: JsonObject = { scope: scope ?? null, filters, rows: rows ?? null, masked: isMasked };
    await pool.query(
      `insert into audit_entries (account_id, at, actor_kind, actor_id, actor_name, action, entity_id, details)
        values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [accountId, now(), kind, id, name, action, entityId ?? null, JSON.stringify(details)],
    );
    recorded.set(key, true);
  };
}
