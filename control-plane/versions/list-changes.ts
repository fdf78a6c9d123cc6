import { isDeepStrictEqual } from 'node:util';
import { entityName, kindLabel } from '../../shared/collections/kind-labels.ts';
import { collectionNames } from '../../shared/collections/registry.ts';
import type { CollectionName, Snapshot } from '../../shared/collections/registry.ts';
import type { SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import { textOf } from '../../shared/contracts/config/define-collection.ts';
import { isSealed } from '../../shared/contracts/config/secrets.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { secretMask } from '../../shared/contracts/config/secrets.ts';
import { indexById, sameEntity } from '../draft/snapshot.ts';

/** A changed field; `old` or `new` is undefined if the field was, or is, absent. Secrets are masked in both. */
export type FieldChange = { readonly path: string; readonly old?: unknown; readonly new?: unknown };

export type EntityChange = {
  readonly collection: CollectionName;
  readonly id: string;
  readonly name: string;
  /** The label of a source's or destination's type; null for every other entity. */
  readonly label: string | null;
  readonly change: 'added' | 'modified' | 'removed';
  readonly fields: readonly FieldChange[];
};

/** The changes of `target` against `baseline`, field by field. Pure. */
export function listChanges(baseline: Snapshot, target: Snapshot): EntityChange[] {
  return collectionNames.flatMap((collection) => {
    const before = indexById(baseline[collection]);
    const after = indexById(target[collection]);
    return [...new Set([...after.keys(), ...before.keys()])].flatMap((id): EntityChange[] => {
      const [old, now] = [before.get(id), after.get(id)];
      if (old !== undefined && now !== undefined && sameEntity(old, now)) return [];
      const name = textOf((now ?? old)?.['name']);
      const label = kindLabel(collection, (now ?? old)?.['type']) ?? null;
      return [{ collection, id, name, label, change: changeOf(old, now), fields: listFields(old, now) }];
    });
  });
}

function changeOf(old: SnapshotEntity | undefined, now: SnapshotEntity | undefined): EntityChange['change'] {
  if (old === undefined) return 'added';
  return now === undefined ? 'removed' : 'modified';
}

/** Fields that no client sets. */
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
    const items = comparedByName(before, after);
    if (items !== undefined) {
      for (const [name, one, other] of items) compare(`${path}[${name}]`, one, other);
      return;
    }
    // For added or removed entities, null counts as absent.
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

/**
 * Pairs the items of two lists by name, if every item has a unique name. Undefined if the lists have to be compared
 * whole, for example if only their order differs.
 */
function comparedByName(
  before: unknown,
  after: unknown,
): readonly (readonly [name: string, before: unknown, after: unknown])[] | undefined {
  const [old, now] = [itemsByName(before), itemsByName(after)];
  if (old === undefined || now === undefined) return undefined;
  const names = [...new Set([...old.keys(), ...now.keys()])];
  const differing = names.filter((name) => !isDeepStrictEqual(old.get(name), now.get(name)));
  return differing.length === 0 ? undefined : differing.map((name) => [name, old.get(name), now.get(name)] as const);
}

function itemsByName(list: unknown): ReadonlyMap<string, unknown> | undefined {
  if (list === undefined) return new Map();
  if (!Array.isArray(list)) return undefined;
  const items = new Map<string, unknown>();
  for (const item of list) {
    const name: unknown = isJsonObject(item) ? (item['property'] ?? item['name']) : undefined;
    if (typeof name !== 'string' || items.has(name)) return undefined;
    const { [isJsonObject(item) && 'property' in item ? 'property' : 'name']: _name, ...rest } = item as JsonObject;
    items.set(name, Object.keys(rest).length === 0 ? item : rest);
  }
  return items;
}

const namedMax = 1_000;

/** Names of the entities whose ids are in changed fields, at most 1,000. Pure. */
export function namesIn(changes: readonly EntityChange[], snapshots: readonly Snapshot[]): Record<string, string> {
  const named = new Set<string>();
  for (const { fields } of changes) for (const field of fields) addTexts([field.old, field.new], named);
  const names = new Map<string, string>();
  for (const snapshot of snapshots) {
    for (const collection of collectionNames) {
      for (const entity of snapshot[collection]) {
        const name = entityName(collection, entity);
        if (name === '' || name === entity.id || !named.has(entity.id) || names.has(entity.id)) continue;
        if (names.size < namedMax) names.set(entity.id, name);
      }
    }
  }
  return Object.fromEntries(names);
}

function addTexts(value: unknown, texts: Set<string>): void {
  if (typeof value === 'string') texts.add(value);
  else if (Array.isArray(value)) for (const item of value) addTexts(item, texts);
  else if (isJsonObject(value)) for (const inner of Object.values(value)) addTexts(inner, texts);
}

function masked(value: unknown): unknown {
  if (isSealed(value)) return secretMask;
  if (Array.isArray(value)) return value.map(masked);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, masked(inner)]));
}
