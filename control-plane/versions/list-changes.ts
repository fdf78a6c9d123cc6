import { isDeepStrictEqual } from 'node:util';
import { collectionNames } from '../../shared/collections/registry.ts';
import type { CollectionName, Snapshot } from '../../shared/collections/registry.ts';
import type { SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import { textOf } from '../../shared/contracts/config/define-collection.ts';
import { isSealed } from '../../shared/contracts/config/secrets.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import { secretMask } from '../../shared/contracts/config/secrets.ts';
import { indexById, sameEntity } from '../draft/snapshot.ts';

/** One field that is not the same; undefined where it was, or is, not there. Secrets are masked on both sides. */
export type FieldChange = { readonly path: string; readonly old?: unknown; readonly new?: unknown };

export type EntityChange = {
  readonly collection: CollectionName;
  readonly id: string;
  readonly name: string;
  readonly change: 'added' | 'modified' | 'removed';
  readonly fields: readonly FieldChange[];
};

/** What `target` changes against `baseline`, field by field. Pure. */
export function listChanges(baseline: Snapshot, target: Snapshot): EntityChange[] {
  return collectionNames.flatMap((collection) => {
    const before = indexById(baseline[collection]);
    const after = indexById(target[collection]);
    return [...new Set([...after.keys(), ...before.keys()])].flatMap((id): EntityChange[] => {
      const [old, now] = [before.get(id), after.get(id)];
      if (old !== undefined && now !== undefined && sameEntity(old, now)) return [];
      const name = textOf((now ?? old)?.['name']);
      return [{ collection, id, name, change: changeOf(old, now), fields: listFields(old, now) }];
    });
  });
}

function changeOf(old: SnapshotEntity | undefined, now: SnapshotEntity | undefined): EntityChange['change'] {
  if (old === undefined) return 'added';
  return now === undefined ? 'removed' : 'modified';
}

/** When it was made is no field anybody set. */
const ignored = new Set(['id', 'createdAt']);

function listFields(old: SnapshotEntity | undefined, now: SnapshotEntity | undefined): FieldChange[] {
  const fields: FieldChange[] = [];
  const compare = (path: string, before: unknown, after: unknown): void => {
    if (isDeepStrictEqual(before, after)) return;
    if ((isJsonObject(before) || before === undefined) && (isJsonObject(after) || after === undefined)) {
      const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
      if (names.size > 0) {
        for (const name of names) compare(`${path}.${name}`, before?.[name], after?.[name]);
        return;
      }
    }
    // Null says nothing that being absent does not, of what was added or removed.
    if ((before ?? undefined) === undefined && (after ?? undefined) === undefined) return;
    fields.push({
      path,
      ...(before === undefined ? {} : { old: masked(before) }),
      ...(after === undefined ? {} : { new: masked(after) }),
    });
  };
  const names = new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})]);
  for (const name of names) if (!ignored.has(name)) compare(name, old?.[name], now?.[name]);
  return fields;
}

function masked(value: unknown): unknown {
  if (isSealed(value)) return secretMask;
  if (Array.isArray(value)) return value.map(masked);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, masked(inner)]));
}
