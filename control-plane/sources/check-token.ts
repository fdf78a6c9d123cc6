import type { EntityManager } from '@mikro-orm/postgresql';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { SourceBody } from '../../shared/collections/sources.ts';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { hashSourceKey } from '../../shared/contracts/config/account-config.ts';
import { SourceKey } from '../../shared/postgres/entities.ts';
import { findEntity } from '../draft/entity-store.ts';
import { liveSources } from '../draft/live-version.ts';

/** Whether gateways accept a key, and for a key that they answer with 401, the cause. */
export const checkedTokenReply = Type.Object({
  state: Type.Enum(['accepted', 'unknown', 'rotated', 'notPublished', 'disabled', 'removed'], {
    description:
      'accepted: gateways accept it. unknown: no source of this account has or had it. rotated: the source has new keys. ' +
      'notPublished: its source is in the draft only. disabled: its source is disabled in the live version. ' +
      'removed: its source was removed.',
  }),
  isTest: nullable(Type.Boolean({ description: 'Whether it is the test key; null if unknown.' })),
  sourceId: nullable(Type.String({ description: 'Null if no source of the draft has or had it.' })),
  sourceName: nullable(Type.String()),
});

/** Looks up a key of this account only: a key of another account is unknown. */
export async function checkToken(
  em: EntityManager,
  accountId: string,
  token: string,
): Promise<Static<typeof checkedTokenReply>> {
  const key = await em.findOne(SourceKey, { accountId, keyHash: hashSourceKey(token) });
  if (key === null) return { state: 'unknown', isTest: null, sourceId: null, sourceName: null };
  const drafted = await findEntity(em, accountId, 'sources', key.sourceId);
  const live = (await liveSources(em, accountId)).get(key.sourceId);
  return {
    state: stateOf({ isRotated: key.revokedAt !== null, isDrafted: drafted !== undefined, live }),
    isTest: key.test,
    sourceId: drafted?.id ?? null,
    sourceName: (drafted?.body as SourceBody | undefined)?.name ?? null,
  };
}

type Findings = {
  readonly isRotated: boolean;
  readonly isDrafted: boolean;
  /** The status of the source in the live version; undefined if the version does not have the source. */
  readonly live: string | undefined;
};

function stateOf({ isRotated, isDrafted, live }: Findings): Static<typeof checkedTokenReply>['state'] {
  if (live === undefined && !isDrafted) return 'removed';
  if (isRotated) return 'rotated';
  if (live === undefined) return 'notPublished';
  return live === 'Enabled' ? 'accepted' : 'disabled';
}
