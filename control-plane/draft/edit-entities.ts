import type { EntityManager, FilterQuery } from '@mikro-orm/postgresql';
import { uuidv7 } from 'uuidv7';
import { collectionOf } from '../../shared/collections/registry.ts';
import type { AnyCollection } from '../../shared/collections/registry.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities.ts';
import { ConfigEntity } from '../../shared/postgres/entities.ts';
import { badRequest, conflict } from '../api/api-error.ts';
import type { CoreServices, Principal } from '../api/define-endpoint.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { AccountLimits } from '../store/account-limits.ts';
import { foldText, randomText, slugOf } from '../store/text.ts';
import { refuseUnusable } from './check-entity.ts';
import { checkTogether } from './check-together.ts';
import { refuseBeyondQuota } from './draft-quota.ts';
import { insertEntity, missingEntities, replaceBody, requireEntity } from './entity-store.ts';

/** The context of an edit. The caller holds the account's lock: see `edit`. */
export type Editing = {
  readonly em: EntityManager;
  readonly principal: Principal;
  readonly now: Date;
  /** The size that the account's entities may have after the edit. */
  readonly limits: AccountLimits;
};

/**
 * Adds an entity to the draft. Throws a 400 for values that it cannot have, and a 409 for a name that is taken or a
 * draft at its quota.
 */
export async function createEntity(
  editing: Editing,
  collection: AnyCollection,
  fields: JsonObject,
  complete: (id: string, body: JsonObject) => JsonObject = (_id, body) => body,
): Promise<ConfigEntityRow> {
  const { em, principal, now } = editing;
  const { accountId } = principal;
  const draft = { ...collection.defaults, ...collection.generate(randomText), ...withoutUndefined(fields) };
  if (collection.single && (await em.count(ConfigEntity, { accountId, collection: collection.name })) > 0) {
    throw conflict(`the account already has its ${collection.noun}`);
  }
  const id = collection.ids === 'uuid' ? uuidv7() : await freeSlug(em, accountId, collection, draft);
  const body = complete(id, draft);
  await checkBody(em, accountId, collection, { id, before: {}, after: body });
  await checkTogether(em, accountId, collection.name, { id, before: undefined, after: body });
  const row = insertEntity(em, { accountId, collection: collection.name, id, body, createdAt: now });
  await refuseBeyondQuota(em, accountId, editing.limits);
  recordAudit(em, principal, { action: `${collection.noun}.create`, collection: collection.name, entityId: id }, now);
  return row;
}

/**
 * Changes only the given fields. Throws a 404 if the account has no such entity, and a 409 if the draft exceeds its
 * quota.
 */
export async function patchEntity(
  editing: Editing,
  collection: AnyCollection,
  id: string,
  fields: JsonObject,
  change: (body: JsonObject, before: JsonObject) => JsonObject = (body) => body,
): Promise<ConfigEntityRow> {
  const { em, principal, now } = editing;
  const { accountId } = principal;
  const row = await requireEntity(em, accountId, collection.name, id);
  const ignored = new Set(['id', 'createdAt', 'updatedAt', ...collection.fixed, ...collection.readOnly]);
  const given = Object.entries(withoutUndefined(fields)).filter(([field]) => !ignored.has(field));
  const before = row.body;
  const body = change({ ...before, ...Object.fromEntries(given) }, before);
  await checkBody(em, accountId, collection, { id, before, after: body });
  await checkTogether(em, accountId, collection.name, { id, before, after: body });
  if (replaceBody(row, body, now)) {
    // An edit that makes the draft smaller is always accepted.
    if (JSON.stringify(body).length > JSON.stringify(before).length)
      await refuseBeyondQuota(em, accountId, editing.limits);
    const changed = Object.keys(body).filter((field) => JSON.stringify(body[field]) !== JSON.stringify(before[field]));
    const audited = { action: `${collection.noun}.update`, collection: collection.name, entityId: id };
    recordAudit(em, principal, { ...audited, details: { fields: changed } }, now);
  }
  return row;
}

/** Removes an entity from the draft. Throws a 404 if the account has no such entity. */
export async function deleteEntity(
  { em, principal, now }: Editing,
  collection: AnyCollection,
  id: string,
): Promise<void> {
  const row = await requireEntity(em, principal.accountId, collection.name, id);
  await checkTogether(em, principal.accountId, collection.name, { id, before: row.body, after: undefined });
  em.remove(row);
  recordAudit(em, principal, { action: `${collection.noun}.delete`, collection: collection.name, entityId: id }, now);
}

async function checkBody(
  em: EntityManager,
  accountId: string,
  collection: AnyCollection,
  { id, before, after: body }: { readonly id: string; readonly before: JsonObject; readonly after: JsonObject },
): Promise<void> {
  refuseUnusable(collection, body);
  for (const reference of collection.references) {
    // Stored references are not checked again, so an entity can be saved even after an entity to which it refers was
    // deleted.
    const known = new Set(reference.ids(before));
    const named = reference.ids(body).filter((one) => !known.has(one));
    const { name } = collectionOf(reference.collection);
    const missing = named.length === 0 ? [] : await missingEntities(em, accountId, name, named);
    if (missing[0] !== undefined) {
      throw badRequest(
        `${reference.field} names ${missing[0]}, which is not one of the account's ${reference.collection}`,
      );
    }
  }
  // Values that do not change are not checked again: a running experiment can be paused although another has its key.
  const changed = Object.entries(body).filter(([field, value]) => value !== before[field]);
  const others = { accountId, collection: collection.name, id: { $ne: id } };
  await checkUnique(em, others, collection, Object.fromEntries(changed));
}

async function checkUnique(
  em: EntityManager,
  others: FilterQuery<ConfigEntityRow>,
  collection: AnyCollection,
  body: JsonObject,
): Promise<void> {
  const { noun, uniqueNames, uniqueFields } = collection;
  const name = body['name'];
  if (uniqueNames && typeof name === 'string') {
    const sameName = { $and: [others, { nameFolded: foldText(name) }] };
    if ((await em.count(ConfigEntity, sameName)) > 0) throw conflict(`another ${noun} has this name`);
  }
  for (const field of uniqueFields.filter((one) => one in body)) {
    const sameValue = { $and: [others, { body: { [field]: body[field] } }] };
    if ((await em.count(ConfigEntity, sameValue)) > 0) throw conflict(`another ${noun} has this ${field}`);
  }
}

async function freeSlug(
  em: EntityManager,
  accountId: string,
  collection: AnyCollection,
  body: JsonObject,
): Promise<string> {
  const name = body['name'];
  const base = slugOf(typeof name === 'string' ? name : '') || slugOf(collection.noun);
  const taken = await missingEntities(em, accountId, collection.name, [base]);
  return taken.length === 1 ? base : `${base}-${randomText(8).toLowerCase()}`;
}

function withoutUndefined(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/**
 * Runs an edit in one transaction; other edits of the same account wait until it has ended. `now` is read after this
 * wait, so that times are in the order of the edits.
 */
export function edit<Result>(
  services: CoreServices,
  principal: Principal,
  work: (editing: Editing) => Promise<Result>,
): Promise<Result> {
  return services.storage.fork().transactional(async (em) => {
    await lockAccount(em, principal.accountId);
    return work({ em, principal, now: services.now(), limits: services.limits });
  });
}

/**
 * Waits until this transaction is the only one that changes the account's configuration. Edits, versions and
 * publishes of one account happen one after the other, so none of them can miss another; readers never wait.
 */
export async function lockAccount(em: EntityManager, accountId: string): Promise<void> {
  await em.execute('select 1 from accounts where id = ? for no key update', [accountId]);
}
