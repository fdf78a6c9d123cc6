import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool, PoolClient } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { openTestPool } from '../../shared/testing/test-pool.ts';
import { holdForErasure } from '../../shared/visitors/erasure-lock.ts';
import { insertErasures } from '../../shared/visitors/erasures.ts';
import { createVisitorStore } from '../../shared/visitors/postgres-visitor-store.ts';
import type { VisitorClaim } from '../../shared/visitors/visitor-identity.ts';
import type { VisitorOutcome, VisitorStore } from '../../shared/visitors/visitor-store.ts';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';
import { suppressFile } from './suppress-file.ts';

let plane: TestControlPlane;
let pool: Pool;
/** The store of a resolver that has run for a while, so its caches are filled. */
let visitors: VisitorStore;
let client: Client;

beforeAll(async () => {
  plane = await startTestControlPlane();
  pool = openTestPool(plane.databaseUrl, 4);
  visitors = createVisitorStore(pool);
});
beforeEach(async () => {
  client = await plane.newAccount();
});
afterAll(async () => {
  await pool.end();
  await plane.stop();
});

type Received = { readonly accountId?: string; readonly at?: number };

async function touch(claim: Partial<VisitorClaim>, { accountId, at }: Received = {}): Promise<VisitorOutcome['kind']> {
  const full = { userId: undefined, externalIds: [], emails: [], anonymousId: undefined, ...claim };
  const { outcomes } = await visitors.resolve([
    {
      accountId: accountId ?? client.accountId,
      claim: full,
      receivedAtMs: at ?? Date.now(),
      given: [{ city: 'Bern' }],
      sentWith: 'server',
    },
  ]);
  return outcomes[0]?.kind ?? 'refused';
}

const listOf = async (query = ''): Promise<readonly { readonly id: string; readonly kind: string | null }[]> =>
  (await client.get(`/suppressions${query}`)).body.entities;

/** Whether another transaction waits for an advisory lock of this one. */
async function waitsForLock(holder: PoolClient): Promise<boolean> {
  const { rows } = await holder.query<{ waits: boolean }>(
    `select exists (
      select from pg_locks where locktype = 'advisory' and not granted and pg_backend_pid() = any(pg_blocking_pids(pid))
    ) as waits`,
  );
  return rows[0]?.waits === true;
}

/** Waits for the next millisecond, so that an event received afterwards is later than everything before. */
async function nextMillisecond(): Promise<void> {
  const before = Date.now();
  await vi.waitUntil(() => Date.now() > before, { interval: 1 });
}

test.each([
  ['userId', 'userIds', 'device-canary', { userId: 'device-canary' }],
  ['externalId', 'externalIds', 'customer-canary', { externalIds: ['customer-canary'] }],
  ['externalId', 'externalIds', 'é'.repeat(400), { externalIds: ['é'.repeat(400)] }],
  ['email', 'emails', ' Ann-Canary@Example.com ', { userId: 'other', emails: ['ann-canary@example.com'] }],
])(
  'suppressions: events that name a suppressed %s are dropped until it is taken back, in this account alone',
  async (kind, list, sent, claim) => {
    const other = await plane.newAccount();
    expect(await touch({ userId: 'bystander' })).toBe('resolved');
    const created = await client.post('/suppressions', { [list]: [sent], reference: 'import 7' });
    expect([created.status, created.body]).toEqual([200, { created: 1, existing: 0, skipped: [] }]);
    expect((await client.post('/suppressions', { [list]: [sent] })).body).toMatchObject({ created: 0, existing: 1 });

    await nextMillisecond();
    const during = Date.now();
    expect([await touch(claim), await touch(claim, { at: during - 60_000 })]).toEqual(['erased', 'erased']);
    expect(await touch(claim, { accountId: other.accountId })).toBe('resolved');
    expect(await touch({ userId: 'bystander' })).toBe('resolved');

    const query = `?${kind}=${encodeURIComponent(sent)}`;
    const [suppression] = await listOf(query);
    expect(suppression).toMatchObject({ kind, reference: 'import 7', erasureId: null });
    expect((await other.get(`/suppressions${query}`)).body.entities).toEqual([]);
    expect((await other.delete(`/suppressions/${suppression?.id}`)).status).toBe(404);

    const back = await client.delete(`/suppressions/${suppression?.id}`);
    expect([back.status, back.body]).toEqual([200, { deleted: true }]);
    await nextMillisecond();
    expect([await touch(claim, { at: during }), await touch(claim)]).toEqual(['erased', 'resolved']);
    expect(await listOf(query)).toEqual([]);
    expect((await client.delete(`/suppressions/${suppression?.id}`)).status).toBe(404);
  },
);

test('suppressions: no table, answer or audit entry names a suppressed identifier', async () => {
  await client.post('/suppressions', {
    userIds: ['u-canary'],
    externalIds: ['x-canary'],
    emails: ['e-canary@example.com'],
  });
  for (const table of ['erasures', 'erasure_records', 'audit_entries', 'visitors', 'visitor_identities']) {
    const { rows } = await pool.query<{ row: string }>(`select t::text as row from ${table} t where account_id = $1`, [
      client.accountId,
    ]);
    expect(JSON.stringify(rows)).not.toContain('canary');
  }
  const shown = [await client.get('/suppressions'), await client.get('/audit')].map(({ body }) => body);
  expect(JSON.stringify(shown)).not.toContain('canary');
  expect(shown[0].entities.map(({ kind }: { kind: string }) => kind).toSorted()).toEqual([
    'email',
    'externalId',
    'userId',
  ]);
});

test('suppressions: an identifier that a visitor has and a placeholder are skipped', async () => {
  await touch({ userId: 'u1', externalIds: ['x1'], emails: ['ann@example.com'] });
  const { body } = await client.post('/suppressions', {
    userIds: ['u1', 'u2', 'u2'],
    externalIds: ['null', 'x2', 'x1'],
    emails: ['ANN@example.com', 'ann@example.com'],
  });
  expect(body).toMatchObject({ created: 2, existing: 0 });
  expect(body.skipped).toHaveLength(5);
  expect(body.skipped).toEqual(
    expect.arrayContaining([
      { field: 'externalIds', index: 0, reason: 'placeholder' },
      { field: 'userIds', index: 0, reason: 'visitor' },
      { field: 'externalIds', index: 2, reason: 'visitor' },
      { field: 'emails', index: 0, reason: 'visitor' },
      { field: 'emails', index: 1, reason: 'visitor' },
    ]),
  );
  expect(await touch({ userId: 'u1' })).toBe('resolved');
});

test('suppressions: an identifier that a resolver is storing for a visitor at that moment is skipped and stays with the visitor', async () => {
  const account = client.accountId;
  const before = Date.now();
  const writer = await pool.connect();
  try {
    await writer.query('begin');
    await writer.query(`insert into visitors (account_id, id) values ($1, 'u1')`, [account]);
    await writer.query(`insert into visitor_identities values ($1, 'email', 'ann@example.com', 'u1')`, [account]);
    const suppressing = client.post('/suppressions', { emails: ['ann@example.com', 'bob@example.com'] });
    await expect.poll(() => listOf()).toHaveLength(2);
    await writer.query('commit');
    expect((await suppressing).body).toEqual({
      created: 1,
      existing: 0,
      skipped: [{ field: 'emails', index: 0, reason: 'visitor' }],
    });
  } finally {
    writer.release();
  }
  expect(await listOf('?email=ann@example.com')).toEqual([]);
  expect(await touch({ emails: ['ann@example.com'] }, { at: before })).toBe('resolved');
  expect(await touch({ emails: ['bob@example.com'] })).toBe('erased');
});

test('suppressions: if the visitor of a skipped identifier is erased at that moment, its earlier events are still dropped', async () => {
  const account = client.accountId;
  const before = Date.now();
  const [writer, eraser] = [await pool.connect(), await pool.connect()];
  try {
    await writer.query('begin');
    await writer.query(`insert into visitors (account_id, id) values ($1, 'u1')`, [account]);
    await writer.query(`insert into visitor_identities values ($1, 'email', 'ann@example.com', 'u1')`, [account]);
    const suppressing = client.post('/suppressions', { emails: ['ann@example.com'] });
    await expect.poll(() => listOf()).toHaveLength(1);
    // An erasure that has taken its lock, and commits after the writer.
    await eraser.query('begin');
    await holdForErasure(eraser, account);
    await writer.query('commit');
    await expect.poll(() => waitsForLock(eraser)).toBe(true);
    const identifiers = [{ kind: 'email', value: 'ann@example.com' }] as const;
    await insertErasures(eraser, { accountId: account, atMs: Date.now(), suppression: undefined }, identifiers);
    await eraser.query(`delete from visitors where account_id = $1 and id = 'u1'`, [account]);
    await eraser.query(`delete from visitor_identities where account_id = $1 and visitor_id = 'u1'`, [account]);
    await eraser.query('commit');
    expect((await suppressing).body).toMatchObject({ created: 1, skipped: [] });
  } finally {
    writer.release();
    eraser.release();
  }
  expect(await touch({ emails: ['ann@example.com'] }, { at: before })).toBe('erased');
});

test('suppressions: a resolver that read the erasures before a suppression does not write the suppressed identifier', async () => {
  await client.post('/suppressions', { userIds: ['first'] });
  // As if an erasure of another visitor were in progress.
  await pool.query(`update erasures set erased_at = now() + interval '1 minute' where account_id = $1`, [
    client.accountId,
  ]);
  const own = openTestPool(plane.databaseUrl, 3);
  try {
    const late = createVisitorStore(own);
    const claim = { userId: 'second', externalIds: [], emails: [], anonymousId: undefined };
    const event = { accountId: client.accountId, claim, given: [], sentWith: 'server' } as const;
    const lookedUp = await late.lookUp([{ ...event, receivedAtMs: Date.now() + 120_000 }]);
    expect((await client.post('/suppressions', { userIds: ['second'] })).body).toMatchObject({ created: 1 });
    expect((await lookedUp.write()).outcomes).toEqual([{ kind: 'erased' }]);
  } finally {
    await own.end();
  }
});

test('suppressions: the suppressions of an erasure are listed by its id; once all are deleted, an erased person can return', async () => {
  const claim = { userId: 'u1', externalIds: ['x1'], emails: ['ann@example.com'] };
  await touch(claim);
  const { body: erased } = await client.call('DELETE', '/visitors/u1', {
    body: { suppress: true, reference: 'ticket 9' },
  });
  await client.post('/suppressions', { userIds: ['u9'] });
  const suppressed = await listOf(`?erasureId=${erased.erasureId}`);
  const byKind = new Map(suppressed.map(({ id, kind }) => [kind, id]));
  expect(byKind.size).toBe(3);
  expect(suppressed).toMatchObject(suppressed.map(() => ({ reference: 'ticket 9', erasureId: erased.erasureId })));
  const claims = { userId: { userId: 'u1' }, externalId: { externalIds: ['x1'] }, email: { emails: claim.emails } };
  for (const [kind, one] of Object.entries(claims)) {
    expect([kind, await touch(one)]).toEqual([kind, 'erased']);
    expect((await client.delete(`/suppressions/${byKind.get(kind)}`)).status).toBe(200);
  }
  await nextMillisecond();
  expect([await touch(claim, { at: Date.parse(erased.erasedAt) }), await touch(claim)]).toEqual(['erased', 'resolved']);
  expect(await listOf()).toHaveLength(1);
});

test('suppressions: a list of 5,000 is accepted in one request and read page by page; a longer list is refused', async () => {
  const ids = Array.from({ length: 5_000 }, (_, n) => `id-${n}`);
  const [externalIds, emails] = [ids.slice(0, 2_500), ids.slice(2_500).map((id) => `${id}@example.com`)];
  expect((await client.post('/suppressions', { externalIds, emails })).body).toMatchObject({ created: 5_000 });
  const seen = new Set<string>();
  let cursor: string | null = null;
  for (let page = 0; page < 3; page += 1) {
    const answer = await client.get(`/suppressions?limit=100${cursor === null ? '' : `&cursor=${cursor}`}`);
    for (const { id } of answer.body.entities) seen.add(id);
    cursor = answer.body.pagination.nextCursor;
  }
  expect(seen.size).toBe(300);
  for (const body of [{ externalIds, emails: [...emails, 'x'] }, { userIds: [...ids, 'x'] }, {}, { emails: [7] }]) {
    const refused = await client.post('/suppressions', body);
    expect([refused.status, refused.body.error]).toEqual([400, expect.stringMatching(/userIds|emails/)]);
  }
  expect((await client.get('/suppressions?userId=a&email=b')).status).toBe(400);
  expect((await client.delete('/suppressions/id-1')).status).toBe(404);
});

test('suppressions: each operation needs its scope and is audited', async () => {
  const scopes = ['suppression:list', 'suppression:create', 'suppression:delete'];
  const keys = await Promise.all(scopes.map((scope) => plane.newKey(client, [scope])));
  const { id } = await client
    .post('/suppressions', { emails: ['ann@example.com'] })
    .then(async () => (await listOf())[0] ?? { id: '' });
  const statuses = [];
  for (const key of keys) {
    statuses.push([
      (await key.get('/suppressions')).status,
      (await key.post('/suppressions', { emails: ['ann@example.com'] })).status,
      (await key.delete(`/suppressions/${id}`)).status,
    ]);
  }
  expect(statuses).toEqual([
    [200, 403, 403],
    [403, 200, 403],
    [403, 403, 200],
  ]);
  const { body } = await client.get('/audit');
  expect(
    body.entities.map((entry: { action: string; entityId: string | null }) => [entry.action, entry.entityId]),
  ).toEqual(
    expect.arrayContaining([
      ['suppression.delete', id],
      ['suppression.create', null],
    ]),
  );
});

test('suppressions: a CSV file of another system is imported by the command line, and repeating it changes nothing', async () => {
  const { accountId } = client;
  const claim = { userId: 'here', externalIds: [], emails: ['here@example.com'], anonymousId: undefined };
  await createVisitorStore(pool).resolve([
    { accountId, claim, receivedAtMs: Date.now(), given: [{}], sentWith: 'server' },
  ]);
  const folder = await mkdtemp(join(tmpdir(), 'suppressions-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'list.csv');
  const many = Array.from({ length: 6_000 }, (_, index) => `"Person ""${index}""",p${index}@Example.com,deleted`);
  await writeFile(file, ['externalId,email,why', ...many, 'null,here@example.com,'].join('\r\n'));
  const request = { accountId, file, reference: 'old system' };
  expect(await suppressFile(pool, request)).toEqual({ created: 12_000, existing: 0, owned: 1, placeholders: 1 });
  expect(await suppressFile(pool, request)).toEqual({ created: 0, existing: 12_000, owned: 1, placeholders: 1 });
  const { body } = await client.get('/suppressions?email=P17@example.com');
  expect(body.entities).toMatchObject([{ kind: 'email', reference: 'old system' }]);
  const name = encodeURIComponent('Person "17"');
  expect((await client.get(`/suppressions?externalId=${name}`)).body.entities).toHaveLength(1);
  for (const [text, problem] of [
    ['name\nann', 'line 1 must name a column'],
    ['email\n"ann', 'line 2: a quote is misplaced or not closed'],
    // The header of a file with a byte order mark is read.
    ['\uFEFF"email"\n"ann', 'line 2: a quote is misplaced or not closed'],
    [`userId\n${'x'.repeat(401)}`, 'line 2: userId has 401 characters'],
    ['', 'the file is empty'],
  ] as const) {
    await writeFile(file, text);
    await expect(suppressFile(pool, request)).rejects.toThrow(problem);
  }
});
