import { Type } from 'typebox';
import type { EntityManager } from '@mikro-orm/postgresql';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { leaseTtlMs } from '../../shared/contracts/process-report.ts';
import type { ProcessReport } from '../../shared/contracts/process-report.ts';
import { newestPublished } from '../publishing/outbox.ts';
import type { LeaseCache } from '../publishing/publishing-service.ts';

const count = Type.Integer({ minimum: 0 });
const instant = Type.String({ format: 'date-time' });

/**
 * Which processes run the live version, by kind only: further facts about processes belong to the installation, not to
 * an account.
 */
export const rolloutReply = Type.Object({
  isLive: Type.Boolean({ description: 'Processes run the live version only.' }),
  sentAt: nullable({ ...instant, description: 'When processes were notified; null before that, and long after it.' }),
  processes: Type.Array(
    Type.Object({
      kind: Type.String(),
      alive: count,
      running: { ...count, description: 'How many of these processes run the version.' },
      since: nullable({
        ...instant,
        description: 'Since when all of these processes run it. Known only until an account publishes again.',
      }),
    }),
  ),
});

/** The rollout of the account's live version, from the reports of processes. */
export async function readRollout(em: EntityManager, accountId: string, leases: LeaseCache) {
  const published = await newestPublished(em, accountId);
  const nowMs = performance.now();
  const alive = [...leases.entries.values()]
    .filter(({ receivedAtMs }) => nowMs - receivedAtMs < leaseTtlMs)
    .map(({ value }) => value);
  const revision = published === 'waits' ? Infinity : (published?.revision ?? 0);
  return {
    isLive: true,
    sentAt: published === 'waits' || published === undefined ? null : published.at.toISOString(),
    processes: ['gateway', 'pipeline'].map((kind) => summarizeKind(kind, alive, revision)),
  };
}

/** How many processes of a kind run a revision, and since when all do. Pure. */
export function summarizeKind(
  kind: string,
  alive: readonly Pick<ProcessReport, 'kind' | 'revision' | 'revisionAt'>[],
  revision: number,
): { kind: string; alive: number; running: number; since: string | null } {
  const own = alive.filter((one) => one.kind === kind);
  const running = own.filter((one) => one.revision >= revision);
  const times = running.flatMap((one) => (one.revision === revision ? (one.revisionAt ?? []) : []));
  const isKnown = own.length > 0 && times.length === own.length;
  return {
    kind,
    alive: own.length,
    running: running.length,
    since: isKnown ? (times.toSorted().at(-1) ?? null) : null,
  };
}
