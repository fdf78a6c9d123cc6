import type { InferEntity } from '@mikro-orm/core';
import { defineEntity } from '@mikro-orm/core';
import type { JsonObject } from '../runtime/json.ts';
import type { StoredCollections } from '../contracts/config/account-config.ts';

/** The current state of one entity of a collection. All rows of an account together are its draft. */
export const ConfigEntity = defineEntity({
  name: 'ConfigEntity',
  tableName: 'entities',
  primaryKeys: ['accountId', 'collection', 'id'],
  properties: (p) => ({
    accountId: p.uuid().primary(),
    collection: p.text().primary(),
    id: p.text().primary(),
    /** The fields of the collection's schema, with sealed secrets; without id and times. */
    body: p.json<JsonObject>(),
    /** The case-folded name, which searches compare. */
    nameFolded: p.text(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3).nullable(),
  }),
});

export type ConfigEntityRow = InferEntity<typeof ConfigEntity>;

/** One customer of the installation. All entities below belong to an account. */
export const Account = defineEntity({
  name: 'Account',
  tableName: 'accounts',
  properties: (p) => ({
    id: p.uuid().primary(),
    name: p.text(),
    /** The version that gateways and pipelines run. */
    liveVersionId: p.uuid().nullable(),
    /** Whether creating a version publishes it if the request does not set `publish`. */
    publishOnCreate: p.boolean().default(false),
    /** `IdentitySettings`; null for the defaults. */
    identity: p.json<JsonObject>().nullable(),
    /** The actions for events and properties that the tracking plan does not list; null for the defaults. */
    planSettings: p.json<JsonObject>().nullable(),
    /** Whether keys without `pii:read` see only the shape of personal values. */
    masksPersonalData: p.boolean().default(false),
    /** Whether only approved versions go live. */
    requiresApproval: p.boolean().default(false),
    createdAt: p.datetime(3),
  }),
});

/** A key of the configuration interface. Only its hash is kept. */
export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: (p) => ({
    id: p.uuid().primary(),
    accountId: p.uuid(),
    /** The public part of the key, by which it is looked up. */
    kid: p.text(),
    name: p.text(),
    /** SHA-256 of the whole key, lower-case hex. */
    secretHash: p.text(),
    scopes: p.array(),
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3).nullable(),
    revokedAt: p.datetime(3).nullable(),
    lastUsedAt: p.datetime(3).nullable(),
  }),
});

export type ApiKeyRow = InferEntity<typeof ApiKey>;

/** A person who signs in to the console of one account. */
export const User = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: (p) => ({
    id: p.uuid().primary(),
    accountId: p.uuid(),
    /** In lower case. */
    email: p.text(),
    role: p.text(),
    /** The id of this person at the single sign-on provider; set at the first sign-in through it. */
    subject: p.text().nullable(),
    createdAt: p.datetime(3),
    signedInAt: p.datetime(3).nullable(),
  }),
});

export type UserRow = InferEntity<typeof User>;

/** Audit trail: actor, action, time and the names of changed fields, never their values. */
export const AuditEntry = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_entries',
  properties: (p) => ({
    id: p.bigint('number').primary().autoincrement(),
    accountId: p.uuid(),
    at: p.datetime(3),
    /** `PrincipalKind`; null in entries of versions without users, whose actors are API keys or tools. */
    actorKind: p.text().nullable(),
    actorId: p.text(),
    actorName: p.text(),
    action: p.text(),
    collection: p.text().nullable(),
    entityId: p.text().nullable(),
    details: p.json<JsonObject>(),
  }),
});

export type AuditEntryRow = InferEntity<typeof AuditEntry>;

/** An account whose live version has changed and must be written to the CONFIG bucket. */
export const OutboxRow = defineEntity({
  name: 'OutboxRow',
  tableName: 'outbox',
  properties: (p) => ({
    id: p.bigint('number').primary().autoincrement(),
    accountId: p.uuid(),
    createdAt: p.datetime(3),
    pushedAt: p.datetime(3).nullable(),
    /** Revision of the CONFIG bucket with which this change was written. */
    revision: p.bigint('number').nullable(),
  }),
});

/** A key for sending events: sealed, because its owner may read it again, and as the hash that gateways look up. */
export const SourceKey = defineEntity({
  name: 'SourceKey',
  tableName: 'source_keys',
  properties: (p) => ({
    id: p.uuid().primary(),
    accountId: p.uuid(),
    sourceId: p.text(),
    test: p.boolean(),
    keyHash: p.text(),
    sealedKey: p.text(),
    createdAt: p.datetime(3),
    revokedAt: p.datetime(3).nullable(),
  }),
});

/** A snapshot of an account's configuration. Its content never changes. */
export const Version = defineEntity({
  name: 'Version',
  tableName: 'versions',
  properties: (p) => ({
    id: p.uuid().primary(),
    accountId: p.uuid(),
    versionNumber: p.integer(),
    name: p.text(),
    nameFolded: p.text(),
    notes: p.text().nullable(),
    notesFolded: p.text(),
    /** Lazy, because it can be large. */
    content: p.json<StoredCollections>().lazy(true, false),
    createdAt: p.datetime(3),
    publishedAt: p.datetime(3).nullable(),
    publishedByUserId: p.text().nullable(),
    publishedByUserName: p.text().nullable(),
  }),
});

export type VersionRow = InferEntity<typeof Version>;
