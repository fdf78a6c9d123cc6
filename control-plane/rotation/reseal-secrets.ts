import type { EntityManager, QueryResult } from '@mikro-orm/postgresql';
import type { SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import {
  SecretError,
  accessTokenContext,
  accountKeyContext,
  erasureSubjectContext,
  isSealed,
  sealedBy,
  settingContext,
  signingSecretContext,
  sourceKeyContext,
  userHashSecretContext,
} from '../../shared/contracts/config/secrets.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { lockAccount } from '../draft/edit-entities.ts';
import { liveVersionId } from '../draft/live-version.ts';
import { addToOutbox } from '../publishing/outbox.ts';
import { keepApprovals } from '../versions/approvals.ts';
import {
  holdsSealedOtherwise,
  isSealedOtherwise,
  sourceHoldsSealedOtherwise,
  versionHoldsSealedOtherwise,
} from './sealed-otherwise.ts';
import type { SealedOtherwise, SealingKeys } from './sealed-otherwise.ts';

/** Rows that were resealed, and values that no key opens, which stay as they are. */
export type Resealed = SealedOtherwise & { readonly unopened: number };

export type ResealOptions = {
  readonly storage: Storage;
  /** Seals with the new key, and can also open values that the old key sealed. */
  readonly secretBox: SecretBox;
  /** Like `secretBox`, for the secrets that gateways open. If undefined, these secrets stay unchanged. */
  readonly sourceSecrets: SecretBox | undefined;
  now(): Date;
  /** Called after each account in which a value was resealed or could not be opened. */
  onAccount(accountId: string, resealed: Resealed): void;
};

/**
 * Reseals values that were sealed with another key than the current one: secrets of destinations and sources in drafts
 * and versions, source keys, keys of accounts, and the identifiers in open erasures. Each account is one transaction
 * that excludes edits of the account, so its draft never comes to differ from its version. Approvals stay valid. An
 * interrupted run resumes where it stopped. The account's live version is published again.
 */
export async function resealSecrets(options: ResealOptions): Promise<Resealed> {
  const { storage, onAccount } = options;
  const total = { destinations: 0, sources: 0, versions: 0, sourceKeys: 0, erasures: 0, accountKeys: 0, unopened: 0 };
  const accounts = await storage.fork().execute<{ id: string }[]>('select id from accounts order by created_at, id');
  for (const { id } of accounts) {
    const resealed = await storage.fork().transactional(async (em) => {
      await lockAccount(em, id);
      return keepApprovals(em, id, () => resealAccount(em, options, id));
    });
    if (Object.values(resealed).every((count) => count === 0)) continue;
    for (const what of Object.keys(total) as (keyof typeof total)[]) total[what] += resealed[what];
    onAccount(id, resealed);
  }
  return total;
}

async function resealAccount(em: EntityManager, options: ResealOptions, accountId: string): Promise<Resealed> {
  const { now } = options;
  const sealing = createResealing(options, accountId);
  const keys = await resealRows(em, sealing, {
    select: 'select id, source_id, test, sealed_key as sealed from source_keys where account_id = ?',
    update: 'update source_keys set sealed_key = ? where account_id = ? and id = ? and sealed_key = ?',
    column: 'sealed_key',
    contextOf: ({ source_id: sourceId, test }) => sourceKeyContext(accountId, String(sourceId), test === true),
    accountId,
  });
  const userHashSecrets = await resealRows(em, sealing, {
    select: 'select source_id as id, sealed from source_secrets where account_id = ?',
    update: 'update source_secrets set sealed = ? where account_id = ? and source_id = ? and sealed = ?',
    column: 'sealed',
    contextOf: ({ id }) => userHashSecretContext(accountId, id),
    accountId,
  });
  const sourceKeys = keys + userHashSecrets;
  const accountKeys = await resealRows(em, sealing, {
    select: 'select kid as id, private_key as sealed from account_keys where account_id = ?',
    update: 'update account_keys set private_key = ? where account_id = ? and kid = ? and private_key = ?',
    column: 'private_key',
    contextOf: ({ id }) => accountKeyContext(accountId, id),
    accountId,
  });
  const erasures = await resealRows(em, sealing, {
    select: 'select id, subject as sealed from erasure_records where subject is not null and account_id = ?',
    update: 'update erasure_records set subject = ? where account_id = ? and id = ? and subject = ?',
    column: 'subject',
    contextOf: ({ id }) => erasureSubjectContext(accountId, id),
    accountId,
  });
  const destinations = await resealDestinations(em, sealing, accountId);
  const sources = await resealSources(em, sealing, accountId);
  const versions = await resealVersions(em, sealing, accountId);
  const rows = { destinations, sources, versions: versions.length, sourceKeys, erasures, accountKeys };
  const resealed = { ...rows, unopened: sealing.unopened.size };
  if (Object.values(rows).every((count) => count === 0)) return resealed;
  const liveId = await liveVersionId(em, accountId);
  // The published document contains the sources' secrets for `userHash`, which are not part of a version.
  if (liveId !== undefined && (versions.includes(liveId) || userHashSecrets > 0)) {
    // Never refused, since the old key could not be removed then. Only texts that were sealed without a key id grow, by
    // nine bytes each.
    await addToOutbox(em, accountId, now(), undefined);
  }
  const principal = {
    accountId,
    kind: 'tool' as const,
    id: 'command-line',
    name: 'command line',
    scopes: ['all'],
    expiresAt: null,
  };
  recordAudit(em, principal, { action: 'secrets.reseal', details: resealed }, now());
  return resealed;
}

/** Reseals one account's values. A value that occurs twice is resealed once, or versions would appear to differ. */
type Resealing = {
  readonly keys: SealingKeys;
  readonly unopened: ReadonlySet<string>;
  /** Reseals the one sealed value of a row. */
  text(sealed: string, context: string): string;
  /** Returns the same object if nothing in it was resealed; so does `source`. */
  settings(settings: JsonObject, destinationId: string): JsonObject;
  source<Source extends JsonObject>(source: Source, sourceId: string): Source;
};

function createResealing(
  { secretBox, sourceSecrets }: Pick<ResealOptions, 'secretBox' | 'sourceSecrets'>,
  accountId: string,
): Resealing {
  const anew = new Map<string, string>();
  const unopened = new Set<string>();
  const value = (box: SecretBox, sealed: string, context: string): string => {
    if (sealed.startsWith(sealedBy(box.keyId))) return sealed;
    const place = `${context} ${sealed}`;
    const known = anew.get(place);
    if (known !== undefined || unopened.has(place)) return known ?? sealed;
    try {
      const resealed = box.seal(box.open(sealed, context), context);
      anew.set(place, resealed);
      return resealed;
    } catch (error) {
      if (!(error instanceof SecretError)) throw error;
      unopened.add(place);
      return sealed;
    }
  };
  const settings = (given: JsonObject, destinationId: string): JsonObject => {
    const entries = Object.entries(given).map(([key, text]) => {
      const next = isSealed(text) ? value(secretBox, text, settingContext(accountId, destinationId, key)) : text;
      return [key, next] as const;
    });
    return entries.every(([key, next]) => next === given[key]) ? given : Object.fromEntries(entries);
  };
  const field = (box: SecretBox | undefined, sealed: unknown, context: string): unknown =>
    box !== undefined && isSealed(sealed) ? value(box, sealed, context) : sealed;
  const source = <Source extends JsonObject>(given: Source, sourceId: string): Source => {
    const { accessToken, signingSecret } = given;
    const token = field(secretBox, accessToken, accessTokenContext(accountId, sourceId));
    const signing = field(sourceSecrets, signingSecret, signingSecretContext(accountId, sourceId));
    if (token === accessToken && signing === signingSecret) return given;
    return {
      ...given,
      ...(token === accessToken ? {} : { accessToken: token }),
      ...(signing === signingSecret ? {} : { signingSecret: signing }),
    };
  };
  return {
    keys: {
      secrets: { keyId: secretBox.keyId, which: 'any' },
      signing: sourceSecrets && { keyId: sourceSecrets.keyId, which: 'any' },
    },
    unopened,
    text: (sealed, context) => value(secretBox, sealed, context),
    settings,
    source,
  };
}

type SealedRow = { readonly id: string; readonly sealed: string } & Readonly<Record<string, unknown>>;

/** Sealed values with a column of their own. */
type SealedColumn = {
  /** Selects `id` and `sealed` of the rows of an account. */
  readonly select: string;
  /** Sets the value of the row with the account and the id, unless the value that was read has changed or is deleted. */
  readonly update: string;
  readonly column: string;
  readonly accountId: string;
  contextOf(row: SealedRow): string;
};

async function resealRows(em: EntityManager, sealing: Resealing, sealed: SealedColumn): Promise<number> {
  const { select, update, column, accountId, contextOf } = sealed;
  const rows = await em.execute<SealedRow[]>(`${select} and ${isSealedOtherwise(column, sealing.keys.secrets)}`, [
    accountId,
  ]);
  let count = 0;
  for (const row of rows) {
    const resealed = sealing.text(row.sealed, contextOf(row));
    if (resealed === row.sealed) continue;
    const { affectedRows } = await em.execute<QueryResult>(update, [resealed, accountId, row.id, row.sealed], 'run');
    count += affectedRows;
  }
  return count;
}

async function resealDestinations(em: EntityManager, sealing: Resealing, accountId: string): Promise<number> {
  const rows = await em.execute<{ id: string; settings: JsonObject }[]>(
    `select id, body -> 'settings' as settings from entities where account_id = ? and collection = 'destinations'
     and ${holdsSealedOtherwise("body -> 'settings'", sealing.keys.secrets)}`,
    [accountId],
  );
  let count = 0;
  for (const { id, settings } of rows) {
    const anew = sealing.settings(settings, id);
    if (anew === settings) continue;
    await em.execute(
      `update entities set body = jsonb_set(body, '{settings}', ?::jsonb)
       where account_id = ? and collection = 'destinations' and id = ?`,
      [JSON.stringify(anew), accountId, id],
    );
    count += 1;
  }
  return count;
}

async function resealSources(em: EntityManager, sealing: Resealing, accountId: string): Promise<number> {
  const rows = await em.execute<{ id: string; body: JsonObject }[]>(
    `select id, body from entities where account_id = ? and collection = 'sources'
     and ${sourceHoldsSealedOtherwise('body', sealing.keys)}`,
    [accountId],
  );
  let count = 0;
  for (const { id, body } of rows) {
    const anew = sealing.source(body, id);
    if (anew === body) continue;
    await em.execute(`update entities set body = ?::jsonb where account_id = ? and collection = 'sources' and id = ?`, [
      JSON.stringify(anew),
      accountId,
      id,
    ]);
    count += 1;
  }
  return count;
}

/**
 * Reseals the account's versions and returns their ids. Reads one version at a time, because together they can be
 * large.
 */
async function resealVersions(em: EntityManager, sealing: Resealing, accountId: string): Promise<string[]> {
  const ids = await em.execute<{ id: string }[]>(
    `select id from versions where account_id = ? and ${versionHoldsSealedOtherwise(sealing.keys)}`,
    [accountId],
  );
  const resealed: string[] = [];
  for (const { id } of ids) {
    const [row] = await em.execute<{ destinations: SnapshotEntity[] | null; sources: SnapshotEntity[] | null }[]>(
      `select content -> 'destinations' as destinations, content -> 'sources' as sources from versions
       where account_id = ? and id = ?`,
      [accountId, id],
    );
    const destinations = row?.destinations ?? [];
    const sources = row?.sources ?? [];
    const anew = destinations.map((destination) => {
      const settings = destination['settings'];
      if (!isJsonObject(settings)) return destination;
      const sealed = sealing.settings(settings, destination.id);
      return sealed === settings ? destination : { ...destination, settings: sealed };
    });
    const anewSources = sources.map((source) => sealing.source(source, source.id));
    const before = [...destinations, ...sources];
    if ([...anew, ...anewSources].every((entity, index) => entity === before[index])) continue;
    const changed = {
      ...(row?.destinations ? { destinations: anew } : {}),
      ...(row?.sources ? { sources: anewSources } : {}),
    };
    await em.execute(`update versions set content = content || ?::jsonb where account_id = ? and id = ?`, [
      JSON.stringify(changed),
      accountId,
      id,
    ]);
    resealed.push(id);
  }
  return resealed;
}
