import type { EntityManager } from '@mikro-orm/postgresql';
import { uuidv7 } from 'uuidv7';
import type { CollectionName } from '../../shared/collections/registry.ts';
import type { SourceBody } from '../../shared/collections/sources.ts';
import { Account, ConfigEntity } from '../../shared/postgres/entities.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { optionalText } from '../../shared/runtime/variables.ts';
import type { Principal } from '../api/define-endpoint.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { createDestination } from '../destinations/edit-destinations.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { principalOfKey } from '../keys/api-key.ts';
import { addApiKey } from '../keys/key-store.ts';
import { operatorScopes } from '../keys/scopes.ts';
import { createSource, readSourceTokens } from '../sources/create-source.ts';
import type { SourceTokens } from '../sources/create-source.ts';
import { createVersion } from '../versions/create-version.ts';
import type { AccountLimits } from '../store/account-limits.ts';
import { publishVersion } from '../versions/publish-version.ts';
import { readCredentials, writeCredentials } from './credentials-file.ts';
import type { Credentials } from './credentials-file.ts';
import { demoUrl, moveDemoDestination } from './demo-destination.ts';

export const { variables: bootstrapEnv, read: readBootstrapSettings } = defineSettings({
  file: fromEnv({
    BOOTSTRAP_FILE: optionalText(
      'File for the credentials of the account that is created in an empty database. If the file is missing later, it is written again with new credentials. If unset, nothing is created',
    ),
  }),
  /** Base URL of the demo sink; if it is not set, no destination is created. */
  sinkUrl: fromEnv({
    BOOTSTRAP_SINK_URL: optionalText('Base URL that the first destination delivers to', { pattern: '^https?://' }),
  }),
});

export type BootstrapOptions = {
  readonly storage: Storage;
  readonly secretBox: SecretBox;
  readonly limits: AccountLimits;
  readonly file: string;
  readonly sinkUrl: ReturnType<typeof readBootstrapSettings>['sinkUrl'];
  now(): Date;
};

const bootstrapLock = 7_305_213;

/** Bootstraps if a file for the credentials is set. */
export async function bootstrapAtStart(
  env: Parameters<typeof readBootstrapSettings>[0],
  { logger, ...parts }: Omit<BootstrapOptions, 'file' | 'sinkUrl'> & { readonly logger: Logger },
): Promise<void> {
  const { file, sinkUrl } = readBootstrapSettings(env);
  if (file === undefined) return;
  const did = await bootstrap({ ...parts, file, sinkUrl });
  logger.info({ did }, 'bootstrap done');
}

/**
 * Makes an empty database usable. Creates an account, a key with every scope (including the installation's), two
 * sources and a destination, publishes them as version 1, and writes a file with the credentials. On a database in use
 * it only writes the file if it is missing, and updates the address of the demo sink. Returns what it did.
 */
export async function bootstrap(options: BootstrapOptions): Promise<'created' | 'file-rewritten' | 'unchanged'> {
  const { storage, file, now } = options;
  const fileExists = (await readCredentials(file)) !== undefined;
  const made = await storage.fork().transactional(async (em) => {
    // If several control planes start at the same time on an empty database, only one of them creates an account.
    await em.execute('select pg_advisory_xact_lock(?)', [bootstrapLock]);
    const [account] = await em.find(Account, {}, { orderBy: { createdAt: 'asc' }, limit: 1 });
    if (account === undefined) return { did: 'created' as const, credentials: await createAccount(em, options) };
    if (options.sinkUrl !== undefined)
      await moveDemoDestination(em, account.id, options.sinkUrl, { ...options, now: now() });
    if (fileExists) return { did: 'unchanged' as const, credentials: undefined };
    return { did: 'file-rewritten' as const, credentials: await reissueCredentials(em, account.id, options) };
  });
  // After the commit, so that the file never has credentials of an account that does not exist.
  if (made.credentials !== undefined) await writeCredentials(file, made.credentials);
  return made.did;
}

async function createAccount(em: EntityManager, options: BootstrapOptions): Promise<Credentials> {
  const { secretBox, sinkUrl } = options;
  const now = options.now();
  const account = em.create(Account, { id: uuidv7(), name: 'Default', liveVersionId: null, createdAt: now });
  await em.persist(account).flush();
  const { key, row } = await addApiKey(
    em,
    account.id,
    { name: 'bootstrap', scopes: operatorScopes, expiresAt: null },
    now,
  );
  const principal = principalOfKey(row);
  recordKey(em, principal, now);
  const editing: Editing = { em, principal, now, limits: options.limits };
  const boxes = { secretBox, sourceSecrets: undefined };
  const source = await createSource(editing, boxes, { type: 'NodejsApi', name: 'Demo source' });
  const destination =
    sinkUrl === undefined
      ? undefined
      : await createDestination(editing, secretBox, {
          type: 'HTTPDestination',
          name: 'Demo sink',
          settings: { httpDestinationUrl: demoUrl(sinkUrl), method: 'POST' },
        });
  const site = await createSource(editing, boxes, { type: 'WebSource', name: 'Demo website' });
  await em.flush();
  const version = await createVersion(editing, { name: 'First version' }, { secretBox, toPublish: false });
  await publishVersion(editing, version.id, Number.POSITIVE_INFINITY);
  const tokens = await readSourceTokens(em, secretBox, source);
  const siteTokens = await readSourceTokens(em, secretBox, site);
  return { apiKey: key, ...credentialsOf(source.id, tokens, destination?.id), ...siteCredentials(siteTokens) };
}

async function reissueCredentials(
  em: EntityManager,
  accountId: string,
  options: BootstrapOptions,
): Promise<Credentials> {
  const issued = { name: 'bootstrap (reissued)', scopes: operatorScopes, expiresAt: null };
  const now = options.now();
  const { key, row } = await addApiKey(em, accountId, issued, now);
  recordKey(em, principalOfKey(row), now);
  const source = await oldestEntity(em, accountId, 'sources');
  const destination = await oldestEntity(em, accountId, 'destinations');
  const tokens = source === undefined ? undefined : await readSourceTokens(em, options.secretBox, source);
  const site = (await entitiesOf(em, accountId, 'sources')).find(
    ({ body }) => (body as SourceBody).type === 'WebSource',
  );
  const siteTokens = site === undefined ? undefined : await readSourceTokens(em, options.secretBox, site);
  return { apiKey: key, ...credentialsOf(source?.id, tokens, destination?.id), ...siteCredentials(siteTokens) };
}

const siteCredentials = (tokens: SourceTokens | undefined): Pick<Credentials, 'webToken'> =>
  tokens === undefined ? {} : { webToken: tokens.token };

/** The audit trail names the key itself as its creator, because no other key created it. */
function recordKey(em: EntityManager, principal: Principal, now: Date): void {
  const { id: entityId, scopes } = principal;
  recordAudit(em, principal, { action: 'key.create', entityId, details: { scopes } }, now);
}

async function oldestEntity(
  em: EntityManager,
  accountId: string,
  collection: CollectionName,
): Promise<ConfigEntityRow | undefined> {
  return (await entitiesOf(em, accountId, collection))[0];
}

/** Entities of a collection, oldest first. */
const entitiesOf = (em: EntityManager, accountId: string, collection: CollectionName): Promise<ConfigEntityRow[]> =>
  em.find(ConfigEntity, { accountId, collection }, { orderBy: { createdAt: 'asc', id: 'asc' }, limit: 100 });

function credentialsOf(
  sourceId: string | undefined,
  tokens: SourceTokens | undefined,
  destinationId: string | undefined,
): Omit<Credentials, 'apiKey'> {
  return {
    ...(tokens === undefined ? {} : { sourceToken: tokens.token, testToken: tokens.testToken }),
    ...(sourceId === undefined ? {} : { sourceId }),
    ...(destinationId === undefined ? {} : { destinationId }),
  };
}
