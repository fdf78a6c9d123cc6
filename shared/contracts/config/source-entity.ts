import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { SnapshotEntity } from './account-config.ts';
import { nullable } from './define-collection.ts';

/**
 * What is read of a published source. Words are not checked against those this build knows: a source that a newer build
 * has published still sends.
 */
const fields = {
  type: Type.String(),
  status: Type.String(),
  name: nullable(Type.String()),
  whitelistDomains: nullable(Type.Array(Type.String())),
  whitelistIps: nullable(Type.Array(Type.String())),
  botControlMode: nullable(Type.String()),
  botScoreThreshold: nullable(Type.Number()),
  excludeRequestContext: nullable(Type.Boolean()),
  redirectUrl: nullable(Type.String()),
  /** Sealed: see signingSecretContext. */
  signingSecret: nullable(Type.String()),
} as const;

type Fields = typeof fields;
export type SourceField = keyof Fields;

/** A published source: what it says where that can be read, else the field's absence. */
export type SourceEntity = { readonly id: string } & {
  readonly [Name in SourceField]: Static<Fields[Name]> | undefined;
} & {
  /** Fields that say what this build cannot read. Whoever restricts something by one of them has to refuse. */
  readonly unreadable: ReadonlySet<SourceField>;
};

const checks = Object.fromEntries(
  Object.entries<TSchema>(fields).map(([name, schema]) => [name, Compile(schema)]),
) as unknown as { readonly [Name in SourceField]: { Check(value: unknown): value is Static<Fields[Name]> } };

const nothingUnreadable: ReadonlySet<SourceField> = new Set();

/** Reads a source of a snapshot, field by field: a build of before may have published fewer of them. */
export function readSource(entity: SnapshotEntity): SourceEntity {
  let unreadable = nothingUnreadable;
  const read = <Name extends SourceField>(name: Name): Static<Fields[Name]> | undefined => {
    const value: unknown = entity[name];
    if (value === undefined) return undefined;
    if (checks[name].Check(value)) return value;
    unreadable = new Set([...unreadable, name]);
    return undefined;
  };
  const source = {
    id: entity.id,
    type: read('type'),
    status: read('status'),
    name: read('name'),
    whitelistDomains: read('whitelistDomains'),
    whitelistIps: read('whitelistIps'),
    botControlMode: read('botControlMode'),
    botScoreThreshold: read('botScoreThreshold'),
    excludeRequestContext: read('excludeRequestContext'),
    redirectUrl: read('redirectUrl'),
    signingSecret: read('signingSecret'),
  };
  return { ...source, unreadable };
}
