import { request } from './request.ts';
import type { Page } from './types.ts';

/** Maximum number of entities in one export. */
const readMax = 10_000;

/** The first entities of a list, and whether they are all that it has. */
export type ReadEntities<Entity> = { readonly entities: readonly Entity[]; readonly isComplete: boolean };

/** The entities of all pages of a list, at most 10,000. `path` is without limit and cursor. */
export async function readAll<Entity>(path: string): Promise<ReadEntities<Entity>> {
  const entities: Entity[] = [];
  const join = path.includes('?') ? '&' : '?';
  let cursor: string | null = '';
  while (cursor !== null && entities.length < readMax) {
    const at: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: Page<Entity> = await request('GET', `${path}${join}limit=100${at}`);
    entities.push(...page.entities);
    cursor = page.pagination.nextCursor;
  }
  return { entities, isComplete: cursor === null };
}
