import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../testing/client.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;

beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane.stop());

type Listed = { readonly id: string; readonly name: string };

const addSources = async (client: Client, names: readonly string[]): Promise<string[]> => {
  const ids: string[] = [];
  for (const name of names) ids.push((await client.post('/sources', { type: 'NodejsApi', name })).body.id as string);
  return ids;
};
const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `s${index}`);
const idsOf = (body: { entities: Listed[] }): string[] => body.entities.map(({ id }) => id);

const walk = async (client: Client, path: string, each: (page: number) => Promise<void>): Promise<string[]> => {
  const seen: string[] = [];
  let cursor = '';
  for (let page = 0; ; page += 1) {
    const separator = path.includes('?') ? '&' : '?';
    const { body } = await client.get(`${path}${cursor === '' ? '' : `${separator}cursor=${cursor}`}`);
    seen.push(...idsOf(body));
    expect(body.pagination.hasMore).toBe(body.pagination.nextCursor !== null);
    if (body.pagination.nextCursor === null) return seen;
    cursor = encodeURIComponent(body.pagination.nextCursor as string);
    await each(page);
  }
};

test('lists: newest first, 25 a page by default, the limit clamped to 1 through 100', async () => {
  const client = await plane.newAccount();
  const ids = await addSources(client, names(103));
  const size = async (limit: string): Promise<number> => idsOf((await client.get(`/sources${limit}`)).body).length;
  expect(await size('')).toBe(25);
  expect(await size('?limit=0')).toBe(1);
  expect(await size('?limit=-3')).toBe(1);
  expect(await size('?limit=500')).toBe(100);
  expect(idsOf((await client.get('/sources?limit=3')).body)).toEqual(ids.slice(-3).toReversed());
  expect(await walk(client, '/sources?limit=10', async () => undefined)).toEqual(ids.toReversed());
});

test('lists: a cursor keeps its place while rows come and go', async () => {
  const client = await plane.newAccount();
  const ids = await addSources(client, names(12));
  const deleted: string[] = [];
  const seen = await walk(client, '/sources?limit=4', async (page) => {
    await addSources(client, [`new ${page}`]);
    // Deletes two entities: one of a page that was already read, which may be the cursor's entity, and one of a later
    // page.
    const shown = ids.toReversed()[(page + 1) * 4 - 1];
    const ahead = ids[page];
    for (const id of [shown, ahead]) {
      if (id !== undefined && !deleted.includes(id)) {
        deleted.push(id);
        await client.delete(`/sources/${id}`);
      }
    }
  });
  expect(new Set(seen).size).toBe(seen.length);
  const survivors = ids.filter((id) => !deleted.includes(id));
  expect(seen).toEqual(expect.arrayContaining(survivors));
});

test('cursors: a cursor that is malformed, changed, or from another list, filter or account is a 400', async () => {
  const client = await plane.newAccount();
  const other = await plane.newAccount();
  await addSources(client, names(3));
  await addSources(other, names(3));
  const cursor = (await client.get('/sources?limit=1')).body.pagination.nextCursor as string;
  const [position = '', signature = ''] = cursor.split('.');
  const forged = Buffer.from(JSON.stringify([0, 'x'])).toString('base64url');
  const tampered = [
    '',
    'x',
    '.',
    '%00',
    position,
    `${position}.`,
    `.${signature}`,
    `${forged}.${signature}`,
    `${cursor}x`,
    `${cursor}.x`,
    cursor.toLowerCase(),
    cursor.slice(0, -1),
    'x'.repeat(5_000),
  ];
  for (const one of tampered) {
    const answer = await client.get(`/sources?limit=1&cursor=${encodeURIComponent(one)}`);
    expect([one, answer.status]).toEqual([one, 400]);
  }
  expect((await client.get(`/destinations?cursor=${cursor}`)).status).toBe(400);
  expect((await client.get(`/sources?status=Enabled&cursor=${cursor}`)).status).toBe(400);
  expect((await other.get(`/sources?cursor=${cursor}`)).status).toBe(400);
  // The page size may change between pages.
  expect((await client.get(`/sources?limit=2&cursor=${cursor}`)).status).toBe(200);
});

test('filters: nameContains ignores case and takes % and _ literally', async () => {
  const client = await plane.newAccount();
  await addSources(client, ['Shop 100%', 'shop_one', 'SHOPXONE', 'Größe', String.raw`back\slash`]);
  await client.post('/sources', { type: 'WebSource' });
  const found = async (part: string): Promise<string[]> => {
    const { body } = await client.get(`/sources?nameContains=${encodeURIComponent(part)}`);
    return (body.entities as Listed[]).map(({ name }) => name).sort();
  };
  expect(await found('shop')).toEqual(['SHOPXONE', 'Shop 100%', 'shop_one']);
  expect(await found('%')).toEqual(['Shop 100%']);
  expect(await found('p_o')).toEqual(['shop_one']);
  expect(await found('GRÖSSE')).toEqual([]);
  expect(await found('GRÖ')).toEqual(['Größe']);
  expect(await found('\\')).toEqual([String.raw`back\slash`]);
});

test('lists: versions are filtered by name, notes and isPublished', async () => {
  const client = await plane.newAccount();
  for (const index of [1, 2, 3])
    await client.post('/versions', { name: `Release ${index}`, notes: `50% of ${index}_x` });
  const all = (await client.get('/versions')).body.entities as (Listed & { versionNumber: number })[];
  expect(all.map(({ versionNumber }) => versionNumber)).toEqual([3, 2, 1]);
  const second = all[1]?.id ?? '';
  await client.post(`/versions/${second}/publish`);
  const ids = async (query: string): Promise<string[]> => idsOf((await client.get(`/versions?${query}`)).body);
  expect(await ids('isPublished=true')).toEqual([second]);
  expect(await ids('isPublished=false')).toEqual([all[0]?.id, all[2]?.id]);
  expect(await ids('nameContains=RELEASE%203')).toEqual([all[0]?.id]);
  expect(await ids('notesContains=50%25')).toHaveLength(3);
  expect(await ids('notesContains=2_')).toEqual([second]);
  expect(await walk(client, '/versions?limit=1', async () => undefined)).toEqual(all.map(({ id }) => id));
  const unpublished = await plane.newAccount();
  await unpublished.post('/versions');
  expect(idsOf((await unpublished.get('/versions?isPublished=true')).body)).toEqual([]);
  expect(idsOf((await unpublished.get('/versions?isPublished=false')).body)).toHaveLength(1);
});
