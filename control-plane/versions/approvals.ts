import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { requiresApproval } from '../account/endpoints.ts';
import { ApiError, conflict, found } from '../api/api-error.ts';
import type { Principal } from '../api/define-endpoint.ts';
import type { Position } from '../api/pagination.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { loadDraft } from '../draft/entity-store.ts';
import { liveVersionId } from '../draft/live-version.ts';
import { withoutDraftExperiments } from '../draft/snapshot.ts';
import { canonical, isUuid } from '../store/text.ts';
import { requireVersion } from './version-store.ts';

export type ApprovalRow = {
  readonly versionId: string;
  readonly versionNumber: number;
  readonly versionName: string;
  /** Whether the version has been live. */
  readonly wasLive: boolean;
  readonly requestedAt: string | Date;
  readonly requestedById: string;
  readonly requestedByName: string;
  readonly requestedByUser: string | null;
  readonly comment: string | null;
  readonly liveVersionId: string | null;
  readonly draftHash: string;
  readonly decision: 'approved' | 'rejected' | null;
  readonly decidedAt: string | Date | null;
  readonly decidedById: string | null;
  readonly decidedByName: string | null;
  readonly decidedByUser: string | null;
  readonly decisionComment: string | null;
  readonly usedAt: string | Date | null;
};

/** The present live version and draft. A request becomes void if one of them has changed. */
export type Present = { readonly liveId: string | undefined; readonly draftHash: string };

export type ApprovalStatus = 'pending' | 'approved' | 'rejected' | 'void' | 'published';

/** The state of a request, with the reason if it is void. Pure. */
export function approvalStatus(
  row: Pick<ApprovalRow, 'usedAt' | 'liveVersionId' | 'wasLive' | 'draftHash' | 'decision'>,
  { liveId, draftHash }: Present,
): { readonly status: ApprovalStatus; readonly voidBecause: string | null } {
  if (row.usedAt !== null) return { status: 'published', voidBecause: null };
  if (row.decision === 'rejected') return { status: 'rejected', voidBecause: null };
  if ((row.liveVersionId ?? undefined) !== liveId) {
    return { status: 'void', voidBecause: 'another version went live after the request' };
  }
  // A version that was live before is not a copy of the draft.
  if (!row.wasLive && row.draftHash !== draftHash) {
    return { status: 'void', voidBecause: 'the draft changed after the request' };
  }
  return { status: row.decision ?? 'pending', voidBecause: null };
}

export async function readPresent(em: EntityManager, accountId: string): Promise<Present> {
  const draft = withoutDraftExperiments(await loadDraft(em, accountId));
  return {
    liveId: await liveVersionId(em, accountId),
    draftHash: createHash('sha256').update(canonical(draft)).digest('hex'),
  };
}

/** Does work that seals the draft's secrets again and changes nothing else: open requests stay valid. */
export async function keepApprovals<Result>(
  em: EntityManager,
  accountId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const open = await em.execute<unknown[]>('select 1 from approvals where account_id = ? and used_at is null limit 1', [
    accountId,
  ]);
  if (open.length === 0) return work();
  const { draftHash: before } = await readPresent(em, accountId);
  const result = await work();
  const { draftHash } = await readPresent(em, accountId);
  await em.execute('update approvals set draft_hash = ? where account_id = ? and used_at is null and draft_hash = ?', [
    draftHash,
    accountId,
    before,
  ]);
  return result;
}

/** Requests approval of the version, in place of an earlier request. Throws a 409 for the live version. */
export async function requestApproval(
  { em, principal, now }: Editing,
  versionId: string,
  comment: string | null,
): Promise<ApprovalRow> {
  const { accountId, id: actorId, name: actorName } = principal;
  const { id, versionNumber } = await requireVersion(em, accountId, versionId);
  const { liveId, draftHash } = await readPresent(em, accountId);
  if (id === liveId) throw conflict(`version ${versionNumber} is live already`);
  await em.execute('delete from approvals where account_id = ? and version_id = ?', [accountId, id]);
  await em.execute(
    `insert into approvals
       (version_id, account_id, requested_at, requested_by_id, requested_by_name, comment, live_version_id, draft_hash)
     values (?, ?, ?, ?, ?, ?, ?, ?)`,
    [id, accountId, now, actorId, actorName, comment, liveId ?? null, draftHash],
  );
  recordAudit(em, principal, { action: 'version.request-approval', entityId: id, details: { versionNumber } }, now);
  return requireApproval(em, accountId, id);
}

/**
 * Approves or rejects a request. Throws a 403 for an approval by the key or user that made the version or the request, or by
 * another key of that user, and a 409 for a request that is decided or void.
 */
export async function decideApproval(
  { em, principal, now }: Editing,
  versionId: string,
  decision: 'approved' | 'rejected',
  comment: string | null,
): Promise<ApprovalRow> {
  const { accountId, id: actorId, name: actorName } = principal;
  const row = await requireApproval(em, accountId, versionId);
  const { status, voidBecause } = approvalStatus(row, await readPresent(em, accountId));
  if (status === 'void') throw conflict(`the request is void, as ${voidBecause}: request approval again`);
  if (status !== 'pending') throw conflict(`the request is already ${status}`);
  if (decision === 'approved') await refuseAuthor(em, principal, row);
  await em.execute(
    `update approvals set decision = ?, decided_at = ?, decided_by_id = ?, decided_by_name = ?, decision_comment = ?
     where account_id = ? and version_id = ?`,
    [decision, now, actorId, actorName, comment, accountId, row.versionId],
  );
  const action = decision === 'approved' ? 'version.approve' : 'version.reject';
  const { versionNumber } = row;
  recordAudit(em, principal, { action, entityId: row.versionId, details: { versionNumber } }, now);
  return requireApproval(em, accountId, row.versionId);
}

async function refuseAuthor(em: EntityManager, { accountId, id }: Principal, row: ApprovalRow): Promise<void> {
  const [made] = await em.execute<{ actorId: string }[]>(
    `select actor_id as "actorId" from audit_entries
     where account_id = ? and entity_id = ? and action = 'version.create' order by id limit 1`,
    [accountId, row.versionId],
  );
  const authors = [row.requestedById, ...(made === undefined ? [] : [made.actorId])];
  const person = await personBehind(em, accountId, id);
  const persons = await Promise.all(authors.map((author) => personBehind(em, accountId, author)));
  if (!persons.includes(person)) return;
  throw new ApiError(
    403,
    'own_request',
    'another user or key must approve the version: not its creator, nor the one that requested the approval. A key counts ' +
      'as the user who created it',
  );
}

const makersMax = 16;

/**
 * The id of the user that made a key, directly or through other keys; the key's own id if the audit trail does not know
 * that user.
 */
async function personBehind(em: EntityManager, accountId: string, id: string): Promise<string> {
  const [person] = await em.execute<{ id: string }[]>(
    `with recursive makers as (
       select ?::text as id, null::text as kind, 0 as steps
       union all
       select e.actor_id, e.actor_kind, m.steps + 1
       from makers m join audit_entries e on e.account_id = ? and e.action = 'key.create' and e.entity_id = m.id
       where m.steps < ${makersMax}
     )
     select id from makers where steps = 0 or kind = 'user' order by steps desc limit 1`,
    [id, accountId],
  );
  return person?.id ?? id;
}

/**
 * Throws a 409 if the account publishes approved versions only and the version is not approved. Uses up the approval:
 * to go live again, the version needs another approval.
 */
export async function takeApproval(
  { em, principal, now }: Editing,
  { id, versionNumber }: { readonly id: string; readonly versionNumber: number },
): Promise<void> {
  const { accountId } = principal;
  if (!(await requiresApproval(em, accountId))) return;
  const row = await findApproval(em, accountId, id);
  const rule = 'this account publishes approved versions only';
  if (row === undefined) {
    throw conflict(
      `${rule}: create the version without publishing it, request its approval (POST /rest/v1/versions/{id}/request-approval), and publish it once it is approved`,
    );
  }
  const { status, voidBecause } = approvalStatus(row, await readPresent(em, accountId));
  if (status !== 'approved') {
    const why = voidBecause === null ? '' : `, as ${voidBecause}`;
    throw conflict(`${rule}, and the request for version ${versionNumber} is ${status}${why}`);
  }
  await em.execute('update approvals set used_at = ? where account_id = ? and version_id = ?', [now, accountId, id]);
}

/**
 * SQL: the name of the user that acted on the version, or that made the acting key, directly or through other keys;
 * null if the audit trail has no such user.
 */
const userBehind = (actorId: string): string => `(
  with recursive makers as (
    select ${actorId} as id, 0 as steps, (
      select e.actor_name from audit_entries e
      where e.account_id = a.account_id and e.entity_id = a.version_id::text and e.actor_id = ${actorId}
        and e.actor_kind = 'user' limit 1
    ) as user_name
    union all
    select e.actor_id, m.steps + 1, case when e.actor_kind = 'user' then e.actor_name end
    from makers m join audit_entries e on e.account_id = a.account_id and e.action = 'key.create' and e.entity_id = m.id
    where m.steps < ${makersMax}
  )
  select user_name from makers where user_name is not null order by steps desc limit 1)`;

const columns = `a.version_id as "versionId", v.version_number as "versionNumber", v.name as "versionName",
  v.published_at is not null as "wasLive", a.requested_at as "requestedAt", a.requested_by_id as "requestedById",
  a.requested_by_name as "requestedByName", ${userBehind('a.requested_by_id')} as "requestedByUser", a.comment, a.live_version_id as "liveVersionId", a.draft_hash as "draftHash",
  a.decision, a.decided_at as "decidedAt", a.decided_by_id as "decidedById", a.decided_by_name as "decidedByName",
  ${userBehind('a.decided_by_id')} as "decidedByUser",
  a.decision_comment as "decisionComment", a.used_at as "usedAt"`;
const joined = 'approvals a join versions v on v.account_id = a.account_id and v.id = a.version_id';

/** Up to `limit` requests of an account after a position, newest first; only requests of one version if it is given. */
export function listApprovals(
  em: EntityManager,
  accountId: string,
  versionId: string | undefined,
  page: { readonly limit: number; readonly after: Position | undefined },
): Promise<ApprovalRow[]> {
  const conditions = ['a.account_id = ?'];
  const values: unknown[] = [accountId];
  if (versionId !== undefined) {
    conditions.push('a.version_id = ?');
    values.push(versionId);
  }
  if (page.after !== undefined) {
    conditions.push('(a.requested_at, a.version_id) < (?, ?)');
    values.push(new Date(Number(page.after[0])), page.after[1]);
  }
  return em.execute<ApprovalRow[]>(
    `select ${columns} from ${joined} where ${conditions.join(' and ')}
     order by a.requested_at desc, a.version_id desc limit ?`,
    [...values, page.limit],
  );
}

async function findApproval(em: EntityManager, accountId: string, id: string): Promise<ApprovalRow | undefined> {
  if (!isUuid(id)) return undefined;
  const [row] = await listApprovals(em, accountId, id, { limit: 1, after: undefined });
  return row;
}

function requireApproval(em: EntityManager, accountId: string, id: string): Promise<ApprovalRow> {
  return found(findApproval(em, accountId, id), 'request for approval');
}
