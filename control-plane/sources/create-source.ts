import type { EntityManager } from '@mikro-orm/postgresql';
import { uuidv7 } from 'uuidv7';
import { sources } from '../../shared/collections/sources.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import { sourceKeyContext } from '../../shared/contracts/config/secrets.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { createEntity } from '../draft/edit-entities.ts';
import { hashSourceKey } from '../../shared/contracts/config/account-config.ts';
import { SourceKey } from '../../shared/postgres/entities.ts';
import { randomText } from '../store/text.ts';
import { sealSourceSecrets, sourceSealers } from './source-secrets.ts';
import type { SourceBoxes } from './source-secrets.ts';

/** Adds a source to the draft, with its live and its test key. */
export async function createSource(editing: Editing, boxes: SourceBoxes, fields: JsonObject): Promise<ConfigEntityRow> {
  const { accountId } = editing.principal;
  const row = await createEntity(editing, sources, fields, (id, body) =>
    sealSourceSecrets(body, {}, sourceSealers(boxes, accountId, id)),
  );
  await issueSourceKeys(editing.em, boxes.secretBox, row, editing.now);
  return row;
}

/** A source's two keys, in the clear. */
export type SourceTokens = { readonly token: string; readonly testToken: string };

/** Maximum number of ended keys of a source that are kept. */
const endedKeysMax = 100;

/** Gives a source a new pair of keys and ends the previous pair. */
export async function issueSourceKeys(
  em: EntityManager,
  secretBox: SecretBox,
  source: { readonly accountId: string; readonly id: string },
  now: Date,
): Promise<SourceTokens> {
  const { accountId } = source;
  await em.nativeUpdate(SourceKey, { accountId, sourceId: source.id, revokedAt: null }, { revokedAt: now });
  await em.execute(
    `delete from source_keys where account_id = ? and id in (
       select id from source_keys where account_id = ? and source_id = ? and revoked_at is not null
       order by created_at desc, id desc offset ?)`,
    [accountId, accountId, source.id, endedKeysMax],
  );
  const issue = (test: boolean): string => {
    const key = `src_${test ? 'test' : 'live'}_${randomText(32)}`;
    em.persist(
      em.create(SourceKey, {
        id: uuidv7(),
        accountId: source.accountId,
        sourceId: source.id,
        test,
        keyHash: hashSourceKey(key),
        sealedKey: secretBox.seal(key, sourceKeyContext(source.accountId, source.id, test)),
        createdAt: now,
        revokedAt: null,
      }),
    );
    return key;
  };
  return { token: issue(false), testToken: issue(true) };
}

/** The current keys of the source; undefined if it has none. */
export async function readSourceTokens(
  em: EntityManager,
  secretBox: SecretBox,
  source: { readonly accountId: string; readonly id: string },
): Promise<SourceTokens | undefined> {
  const rows = await em.find(SourceKey, { accountId: source.accountId, sourceId: source.id, revokedAt: null });
  const open = (test: boolean): string | undefined => {
    const row = rows.find((key) => key.test === test);
    return row === undefined
      ? undefined
      : secretBox.open(row.sealedKey, sourceKeyContext(source.accountId, source.id, test));
  };
  const token = open(false);
  const testToken = open(true);
  return token === undefined || testToken === undefined ? undefined : { token, testToken };
}
