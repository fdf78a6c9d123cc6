import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { SnapshotEntity } from '../../shared/contracts/config/account-config.ts';

const nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

/** What the gateway reads of a published source. */
const SourceSettings = Type.Object({
  id: Type.String(),
  type: Type.String(),
  status: Type.String(),
  name: nullable(Type.String()),
  whitelistDomains: nullable(Type.Array(Type.String())),
  whitelistIps: nullable(Type.Array(Type.String())),
  botControlMode: nullable(Type.String()),
  excludeRequestContext: nullable(Type.Boolean()),
  redirectUrl: nullable(Type.String()),
});

export type SourceSettings = Static<typeof SourceSettings>;

const check = Compile(SourceSettings);

/** The entity as source settings; undefined when it is none, and then the source takes nothing. */
export function readSourceSettings(entity: SnapshotEntity): SourceSettings | undefined {
  return check.Check(entity) ? entity : undefined;
}
