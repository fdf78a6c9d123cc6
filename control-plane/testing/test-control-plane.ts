import { randomBytes } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import type { NatsServer, NatsServerOptions } from '../../shared/embedded/nats/nats-server.ts';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { createLogger } from '../../shared/runtime/logger.ts';
import { createScope } from '../../shared/runtime/scope.ts';
import type { Scope } from '../../shared/runtime/scope.ts';
import { Account } from '../../shared/postgres/entities.ts';
import { openStorage } from '../../shared/postgres/open-storage.ts';
import type { Storage } from '../../shared/postgres/open-storage.ts';
import { asLogUser } from '../../shared/testing/as-log-user.ts';
import { createTestDatabase, startTestNats } from '../../shared/testing/servers.ts';
import { documents } from '../endpoints.ts';
import { readControlPlaneEnv } from '../env.ts';
import type { ControlPlaneEnv } from '../env.ts';
import { addApiKey } from '../keys/key-store.ts';
import { startControlPlane } from '../start-control-plane.ts';
import { createClient } from './client.ts';
import type { Client } from './client.ts';
import { createAnswerCheck } from './answer-check.ts';

/** A control plane with its own servers, for one test file. */
export type TestControlPlane = {
  readonly env: ControlPlaneEnv;
  /** URL of the database with the owner's login, which has more rights than a control plane's. */
  readonly databaseUrl: string;
  readonly storage: Storage;
  readonly log: LogConnection;
  readonly nats: NatsServer;
  readonly baseUrl: string;
  /** A client with a key of a new account; every answer is checked against the OpenAPI document. */
  newAccount(scopes?: readonly string[]): Promise<Client>;
  /** A client of the same account with a new key of these scopes. */
  newKey(client: Client, scopes: readonly string[], expiresAt?: Date | null): Promise<Client>;
  /** Text of the control plane's metrics page. */
  metrics(): Promise<string>;
  /** Another control plane on the same servers; stopped with this one. */
  startAnother(changes?: Partial<ControlPlaneEnv>): Promise<AnotherControlPlane>;
  stop(): Promise<void>;
};

export type AnotherControlPlane = Pick<TestControlPlane, 'baseUrl' | 'metrics' | 'stop'> & { readonly scope: Scope };

const mebibyte = 1024 ** 2;
const check = createAnswerCheck(documents);

export async function startTestControlPlane(
  changes: Partial<ControlPlaneEnv> = {},
  ofLog: Partial<NatsServerOptions> = {},
): Promise<TestControlPlane> {
  const [database, nats] = await Promise.all([createTestDatabase(), startTestNats(ofLog)]);
  const roles = await database.migrateWithRoles();
  const env: ControlPlaneEnv = { ...testEnv(), DATABASE_URL: roles.controlPlane, NATS_URL: nats.url, ...changes };
  const first = await start(env);
  const storage = await openStorage({ databaseUrl: database.url, connectionsMax: 3 });
  const log = await connectLog({ url: nats.url, name: 'test' });
  const others: Scope[] = [];
  const addKey = async (accountId: string, scopes: readonly string[], expiresAt: Date | null): Promise<Client> => {
    const { key, row } = await addApiKey(storage.fork(), accountId, { name: 'test', scopes, expiresAt }, new Date());
    return createClient({ baseUrl: first.baseUrl, accountId, key, keyId: row.id, check });
  };
  return {
    env,
    databaseUrl: database.url,
    storage,
    log,
    nats,
    baseUrl: first.baseUrl,
    metrics: first.metrics,
    async newAccount(scopes = ['all']) {
      const em = storage.fork();
      const account = em.create(Account, { id: uuidv7(), name: 'test', liveVersionId: null, createdAt: new Date() });
      await em.persist(account).flush();
      return addKey(account.id, scopes, null);
    },
    newKey: (client, scopes, expiresAt = null) => addKey(client.accountId, scopes, expiresAt),
    async startAnother(more = {}) {
      const another = await start({ ...env, ...more });
      others.push(another.scope);
      return { ...another, stop: () => another.scope.end('test') };
    },
    async stop() {
      for (const scope of [...others, first.scope]) await scope.end('test over');
      await Promise.all([storage.close(), log.close()]);
      await Promise.all([database.drop(), nats.stop()]);
    },
  };
}

type Started = Pick<TestControlPlane, 'baseUrl' | 'metrics'> & { readonly scope: Scope };

async function start(env: ControlPlaneEnv): Promise<Started> {
  const logger = createLogger('test', env.LOG_LEVEL);
  const scope = createScope(logger, env.SHUTDOWN_DEADLINE_MS);
  const { port, page } = await startControlPlane(
    { ...env, NATS_URL: asLogUser(env.NATS_URL, 'controlPlane') },
    logger,
    scope,
  );
  return { baseUrl: `http://127.0.0.1:${port}`, metrics: () => page.text(), scope };
}

function testEnv(): ControlPlaneEnv {
  const newKey = (): string => randomBytes(32).toString('base64');
  return {
    // `DATABASE_URL` is a placeholder: the caller supplies the addresses of the servers.
    ...readControlPlaneEnv({
      DATABASE_URL: 'postgresql://unused',
      SECRETS_KEY: newKey(),
      SOURCE_SECRETS_KEY: newKey(),
    }),
    LOG_PARTITIONS: 1,
    LOG_INGEST_BYTES_MAX: 8 * mebibyte,
    LOG_EVENTS_BYTES_MAX: 8 * mebibyte,
    LOG_RETRY_BYTES_MAX: 8 * mebibyte,
    LOG_DEAD_LETTERS_BYTES_MAX: 8 * mebibyte,
    LOG_INGEST_DEAD_LETTERS_BYTES_MAX: 8 * mebibyte,
    LOG_DEDUPLICATION_BYTES_MAX: 8 * mebibyte,
    LOG_LEVEL: 'silent',
    // Tests leave idle connections open.
    SHUTDOWN_IDLE_MS: 0,
    CONTROL_PLANE_PORT: 0,
    CONTROL_PLANE_METRICS_PORT: 0,
    METRICS_HOST: '127.0.0.1',
    CONTROL_PLANE_HOST: '127.0.0.1',
    PUBLISH_BACKLOG_AGE_MS: 0,
    EGRESS_ALLOW: '127.0.0.0/8',
    INGEST_URL: 'https://ingest.example.com',
    // No limit: tests share the machine, so a limit of an account's processor time would apply at random.
    ACCOUNT_COSTLY_PERCENT: 100,
    // No statement times out: tests hold locks for as long as a busy machine takes.
    DATABASE_STATEMENT_TIMEOUT_MS: 600_000,
  };
}
