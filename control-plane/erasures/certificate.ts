import type { CertificatePayload } from '../../shared/contracts/erasure-certificate.ts';
import type { ErasureRecord } from '../../shared/visitors/erasure-records.ts';
import { keptAfterDueMs } from './erasure-targets.ts';
import type { ErasureTarget } from './erasure-targets.ts';

/** Maximum time for which data is kept that cannot be deleted individually, in ms. */
export type RetentionLimits = { readonly historyMs: number; readonly waitingMs: number; readonly deadLetterMs: number };

/** How long the pipeline keeps the changes of visitors, in ms. */
const visitorChangesMs = 300_000;

/** The content that the certificate of an erasure has at this moment. Pure. */
export function certificateOf(
  accountId: string,
  record: ErasureRecord,
  targets: readonly ErasureTarget[],
  { limits, now }: { readonly limits: RetentionLimits; readonly now: Date },
): CertificatePayload {
  const { counts, erasedAtMs } = record;
  const deleted = (name: string, count: number | null) => ({ name, deleted: count });
  return {
    version: 1,
    accountId,
    erasureId: record.id,
    reference: record.reference ?? null,
    requestedBy: { id: record.actor.id, name: record.actor.name },
    requestedAt: new Date(record.requestedAtMs).toISOString(),
    erasedAt: new Date(erasedAtMs).toISOString(),
    dueAt: record.dueAtMs === undefined ? null : new Date(record.dueAtMs).toISOString(),
    issuedAt: now.toISOString(),
    isSuppressed: record.isSuppressed,
    stores: [
      deleted('visitors', counts.visitors),
      deleted('visitor_identities', counts.identifiers - counts.visitors),
      deleted('recent_events', counts.recentEvents),
      deleted('experiment_assignments', counts.experimentAssignments),
      deleted('experiment_visitors', counts.experimentVisitors),
      // These rows are deleted together with the rows above, and are not counted.
      deleted('event_outcomes', null),
      deleted('visitor_merges', null),
      deleted('QUARANTINE', null),
    ],
    retained: [...retainedSubject(record), ...retainedAfter(erasedAtMs, limits, now.getTime())],
    destinations: targets.map((target) => ({
      id: target.destinationId,
      type: target.type,
      name: target.name,
      state: target.state,
      reason: target.reason ?? null,
      reference: target.reference ?? null,
      requestedAt: target.requestedAt?.toISOString() ?? null,
      doneAt: target.doneAt?.toISOString() ?? null,
      confirmedBy: target.confirmedBy ?? null,
    })),
  };
}

function retainedSubject({ dueAtMs, hasSubject }: ErasureRecord): CertificatePayload['retained'] {
  if (dueAtMs === undefined || !hasSubject) return [];
  const why = 'sealed identifiers, deleted as soon as all destinations have deleted the visitor';
  return [{ name: 'erasure_records', why, until: new Date(dueAtMs + keptAfterDueMs).toISOString() }];
}

/** The stores that may still hold events of the visitor at `nowMs`. */
function retainedAfter(erasedAtMs: number, limits: RetentionLimits, nowMs: number): CertificatePayload['retained'] {
  const { historyMs, waitingMs, deadLetterMs } = limits;
  const limited = [
    {
      name: 'EVENTS',
      why: 'events for replay and for destinations that do not accept them, except those that RETRY refers to; events of the visitor are not sent, shown or replayed',
      ms: Math.max(historyMs, waitingMs),
    },
    { name: 'DEAD_LETTERS', why: 'dead letters, deleted when they are read or replayed', ms: deadLetterMs },
    { name: 'INGEST_DEAD_LETTERS', why: 'events that no resolver could process', ms: deadLetterMs },
    { name: 'visitor_changes', why: 'notices between processes', ms: visitorChangesMs },
  ];
  return [
    ...limited
      .filter(({ ms }) => erasedAtMs + ms > nowMs)
      .map(({ name, why, ms }) => ({ name, why, until: new Date(erasedAtMs + ms).toISOString() })),
    {
      name: 'RETRY',
      why: 'references to EVENTS, with the events that they refer to; deleted at the next attempt, but they stay while a destination is paused',
      until: null,
    },
    { name: 'saved_views', why: 'filters of the event list, which may contain a value', until: null },
    { name: 'INGEST', why: 'events that are not resolved yet, dropped when they are resolved', until: null },
    { name: 'backups', why: 'of PostgreSQL and the log, as long as the operator keeps them', until: null },
  ];
}
