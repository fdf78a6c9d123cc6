import pg from 'pg';
import { fail, ok, warn } from '../../../shared/doctor/finding.ts';
import type { Finding } from '../../../shared/doctor/finding.ts';
import { checkPostgres } from '../../../shared/doctor/check-postgres.ts';
import { connectFailure, databaseAccess } from '../../../shared/postgres/database-access.ts';
import type { DatabaseVariables } from '../../../shared/postgres/database-access.ts';
import type { SecretBox, SecretVariables, SourceSecretVariables } from '../../../shared/contracts/config/secrets.ts';
import { countSealedOtherwise } from '../../../control-plane/rotation/sealed-otherwise.ts';
import type { SealedOtherwise, SealingKeys } from '../../../control-plane/rotation/sealed-otherwise.ts';
import { migrationList } from '../../../shared/postgres/migrations/migration-list.ts';
import {
  createSecretBox,
  createSourceSecretBox,
  readSecretKeys,
  signingSecretContext,
  sourceKeyContext,
} from '../../../shared/contracts/config/secrets.ts';
import { askDatabase } from './ask-database.ts';
import { judgeSecretsFailure } from './judge-secrets-failure.ts';

const undefinedTable = '42P01';

/** Connects to PostgreSQL like a service: version, clock, schema, and whether the keys decrypt the stored secrets. */
export async function checkDatabase(
  env: DatabaseVariables,
  secrets: Partial<SecretVariables> & SourceSecretVariables,
  timeoutMs: number,
): Promise<Finding[]> {
  const how = databaseAccess(env).databaseTls === undefined ? 'without TLS' : 'over TLS';
  try {
    return await askDatabase(env, timeoutMs, async (client) => [
      ok('database', `connected to ${client.host}:${client.port} ${how}`),
      ...(await checkPostgres(client)),
      await checkSchema(client),
      ...(await checkSecrets(client, secrets)),
      ...(await checkSourceSecrets(client, secrets)),
    ]);
  } catch (error) {
    throw connectFailure(error) ?? error;
  }
}

async function checkSchema(client: pg.Client): Promise<Finding> {
  const about = 'schema';
  const advice = 'npm run migrate, or start a control plane with MIGRATE_ON_START=true';
  let applied: ReadonlySet<string>;
  try {
    const { rows } = await client.query<{ name: string }>('select name from migrations');
    applied = new Set(rows.map(({ name }) => name));
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== undefinedTable) throw error;
    return fail(about, 'the database has no tables of Sluice', advice);
  }
  const known = migrationList.map(({ name }) => name);
  const missing = known.filter((name) => !applied.has(name));
  if (missing.length > 0) return fail(about, `not applied: ${missing.join(', ')}`, advice);
  const unknown = [...applied].filter((name) => !known.includes(name));
  if (unknown.length === 0) return ok(about, `${known.length} migrations are applied`);
  return warn(
    about,
    `newer than this code: ${unknown.join(', ')}`,
    'run the same version of Sluice as the other services',
  );
}

async function checkSecrets(client: pg.Client, secrets: Partial<SecretVariables>): Promise<Finding[]> {
  const about = 'secrets key';
  const { SECRETS_KEY, SECRETS_KEY_PREVIOUS } = secrets;
  if (SECRETS_KEY === undefined) {
    return [warn(about, 'SECRETS_KEY is not set', 'the control plane and the pipeline need it; a gateway does not')];
  }
  try {
    const box = createSecretBox(...readSecretKeys({ SECRETS_KEY, SECRETS_KEY_PREVIOUS }));
    return [
      await checkSecretsKey(client, box),
      ...(await checkRotation(client, {
        about: 'key rotation',
        variable: 'SECRETS_KEY',
        keys: { secrets: { keyId: box.keyId, which: SECRETS_KEY_PREVIOUS === undefined ? 'named' : 'any' } },
        hasPrevious: SECRETS_KEY_PREVIOUS !== undefined,
      })),
    ];
  } catch (error) {
    return [judgeSecretsFailure(about, error, 'destinations cannot be read')];
  }
}

async function checkSecretsKey(client: pg.Client, box: SecretBox): Promise<Finding> {
  const { rows } = await client.query<{ account_id: string; source_id: string; test: boolean; sealed_key: string }>(
    'select account_id, source_id, test, sealed_key from source_keys order by created_at desc limit 1',
  );
  const [sealed] = rows;
  if (sealed === undefined) return ok('secrets key', 'is 32 bytes long; nothing is sealed with it yet');
  box.open(sealed.sealed_key, sourceKeyContext(sealed.account_id, sealed.source_id, sealed.test));
  return ok('secrets key', 'opens the secrets sealed in the database');
}

/**
 * Checks the key for source secrets, which gateways also have. A machine without the key cannot open these secrets, so
 * nothing is checked there.
 */
async function checkSourceSecrets(client: pg.Client, env: SourceSecretVariables): Promise<Finding[]> {
  const about = 'source secrets key';
  try {
    const box = createSourceSecretBox(env);
    if (box === undefined) return [];
    const { rows } = await client.query<{ account_id: string; id: string; secret: string }>(
      `select account_id, id, body ->> 'signingSecret' as secret from entities
       where collection = 'sources' and starts_with(body ->> 'signingSecret', 'enc:v1:') order by updated_at desc limit 1`,
    );
    const [sealed] = rows;
    if (sealed !== undefined) box.open(sealed.secret, signingSecretContext(sealed.account_id, sealed.id));
    const hasPrevious = env.SOURCE_SECRETS_KEY_PREVIOUS !== undefined;
    const found =
      sealed === undefined
        ? 'is 32 bytes long; nothing is sealed with it yet'
        : 'opens the secrets sealed in the database';
    return [
      ok(about, found),
      ...(await checkRotation(client, {
        about: 'source key rotation',
        variable: 'SOURCE_SECRETS_KEY',
        keys: { signing: { keyId: box.keyId, which: hasPrevious ? 'any' : 'named' } },
        hasPrevious,
      })),
    ];
  } catch (error) {
    return [judgeSecretsFailure(about, error, 'requests of providers get 503')];
  }
}

type Rotation = {
  readonly about: string;
  /** Variable of the key; the variable of the previous key ends in `_PREVIOUS`. */
  readonly variable: string;
  /**
   * Without a previous key, only values that name another key count: older values name no key and may be sealed with
   * this one.
   */
  readonly keys: SealingKeys;
  readonly hasPrevious: boolean;
};

/** Counts the values that are still sealed with a previous key. */
async function checkRotation(client: pg.Client, { about, variable, keys, hasPrevious }: Rotation): Promise<Finding[]> {
  const previous = `${variable}_PREVIOUS`;
  const { rows } = await client.query<SealedOtherwise>(countSealedOtherwise(keys));
  const { destinations = 0, sources = 0, versions = 0, sourceKeys = 0, erasures = 0, accountKeys = 0 } = rows[0] ?? {};
  const isLeft = destinations + sources + versions + sourceKeys + erasures + accountKeys > 0;
  const left =
    `not sealed with ${variable}: ${destinations} destinations, ${sources} sources, ` +
    `${versions} versions, ${sourceKeys} source keys, ${erasures} erasures, ${accountKeys} account keys`;
  if (!hasPrevious) {
    return isLeft ? [fail(about, left, `set ${previous} to the key that sealed them, then npm run reseal`)] : [];
  }
  if (isLeft) return [warn(about, left, `npm run reseal; ${previous} has to stay until then`)];
  const waiting = await client.query('select from outbox where pushed_at is null limit 1');
  if (waiting.rowCount !== 0) {
    return [
      warn(about, 'not all resealed configuration is published yet', 'keep a control plane running, and check again'),
    ];
  }
  return [warn(about, `all is sealed with ${variable}`, `remove ${previous} from every service`)];
}
