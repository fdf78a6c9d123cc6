import { LRUCache } from 'lru-cache';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { principalOfKey } from './api-key.ts';

/** Why a key was refused. The first three reasons identify neither a key nor an account. */
export const refusalReasons = ['malformed', 'unknown', 'not-looked-up', 'wrong-secret', 'revoked', 'expired'] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** The stored key with the same public part as the refused key. */
export type RefusedKey = { readonly accountId: string; readonly id: string; readonly name: string };

/** Counts requests whose key was refused, and audits them, without the key, if the account is known. */
export type RefusedLogins = {
  readonly counts: Readonly<Record<RefusalReason, number>>;
  /** Does not wait for the write, so that a refusal takes as long for a known key as for an unknown one. */
  note(reason: RefusalReason, key: RefusedKey | undefined): void;
  /** Waits for pending writes. */
  stop(): Promise<void>;
};

export type RefusedLoginsOptions = { readonly storage: Storage; readonly logger: Logger; now(): Date };

/**
 * Each key and reason is audited, and each reason logged, at most once in this time; the next entry contains the number
 * of the others.
 */
const tellEveryMs = 60_000;
const keysRemembered = 1_000;
const writesMax = 4;

type Told = { atMs: number; untold: number };

export function createRefusedLogins({ storage, logger, now }: RefusedLoginsOptions): RefusedLogins {
  const counts = { malformed: 0, unknown: 0, 'not-looked-up': 0, 'wrong-secret': 0, revoked: 0, expired: 0 };
  const told = new LRUCache<string, Told>({ max: keysRemembered });
  const writing = new Set<Promise<void>>();
  const write = async (reason: RefusalReason, key: RefusedKey, attempts: number): Promise<void> => {
    const em = storage.fork();
    const principal = principalOfKey({ ...key, scopes: [], expiresAt: null });
    recordAudit(em, principal, { action: 'key.refused', entityId: key.id, details: { reason, attempts } }, now());
    await em.flush();
  };
  /** How many refusals to report now, including this one; 0: report nothing yet. */
  const dueNow = (subject: string): number => {
    const nowMs = now().getTime();
    const last = told.get(subject);
    if (last !== undefined && nowMs - last.atMs < tellEveryMs) {
      last.untold += 1;
      return 0;
    }
    told.set(subject, { atMs: nowMs, untold: 0 });
    return (last?.untold ?? 0) + 1;
  };
  return {
    counts,
    note(reason, key) {
      counts[reason] += 1;
      if (key === undefined) {
        const attempts = dueNow(reason);
        if (attempts > 0) logger.warn({ reason, attempts }, 'API keys were refused');
        return;
      }
      if (writing.size >= writesMax) return;
      const attempts = dueNow(`${key.id} ${reason}`);
      if (attempts === 0) return;
      const written = write(reason, key, attempts)
        .catch((error: unknown) => logger.warn({ err: error, reason }, 'auditing a refused API key failed'))
        .finally(() => writing.delete(written));
      writing.add(written);
    },
    async stop() {
      await Promise.all(writing);
    },
  };
}
