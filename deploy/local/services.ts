import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { createConfigSigner } from '../../shared/contracts/config/signed-config.ts';
import type { StackEnv } from './env.ts';
import type { ServiceUrls } from './credentials.ts';
import { bootstrapFile, credentialsFile } from './credentials.ts';
import type { LogUserName } from '../../shared/nats/users/log-users.ts';
import type { DatabaseService } from '../../shared/postgres/roles/service-roles.ts';
import type { StackDatabase, StackLog } from './servers.ts';
import type { ServiceSpec } from './service-process.ts';

export type ServiceName = 'sink' | 'control-plane' | 'gateway' | 'pipeline';

export type StackService = ServiceSpec & {
  readonly name: ServiceName;
  /** Base address of the service's `/readyz` and `/metrics`; undefined for the sink. */
  readonly metricsUrl: string | undefined;
  /** Maximum duration of a stop, in ms. */
  readonly stopDeadlineMs: number;
};

export type StackAddresses = {
  readonly folder: string;
  readonly log: Pick<StackLog, 'url' | 'monitorUrl' | 'logins'>;
  readonly database: Pick<StackDatabase, 'urls' | 'isMigrated'>;
  readonly secretsKey: string;
  /** Private key in PEM. */
  readonly configSigningKey: string;
  readonly sinkUrl: string;
};

/** A service's own stop deadline is slightly shorter than the launcher's. */
const ownDeadlineMs = 3_500;
const stopDeadlineMs = 4_000;
/** Constant, so that a restarted service finds its health window and leases again. */
const instanceId = 'local';
/** Services listen on loopback only, unless the caller sets another address. */
const loopback = '127.0.0.1';

/**
 * The services of the stack: how each is started.
 * Large: the environment of each service.
 */
export function stackServices(
  env: StackEnv,
  at: StackAddresses,
  inherited: Readonly<Record<string, string | undefined>>,
): Readonly<Record<ServiceName, StackService>> {
  const common = {
    NATS_URL: at.log.url,
    ...(at.log.monitorUrl === undefined ? {} : { NATS_MONITOR_URL: at.log.monitorUrl }),
    LOG_LEVEL: env.LOG_LEVEL,
    SHUTDOWN_DEADLINE_MS: String(ownDeadlineMs),
    INSTANCE_ID: inherited['INSTANCE_ID'] || instanceId,
    METRICS_HOST: inherited['METRICS_HOST'] || loopback,
  };
  const service = (
    name: ServiceName,
    entry: string,
    metricsPort: number | undefined,
    own: Readonly<Record<string, string>>,
  ): StackService => ({
    name,
    entry,
    env: over(inherited, { ...common, ...own }),
    logFile: join(at.folder, 'logs', `${name}.log`),
    metricsUrl: metricsPort === undefined ? undefined : `http://${reached(inherited['METRICS_HOST'])}:${metricsPort}`,
    stopDeadlineMs,
  });
  // Derived from the secrets key, so that no further file is needed. The secrets key cannot be computed from it.
  const sourceSecretsKey = createHmac('sha256', at.secretsKey).update('secrets of sources').digest('base64');
  const signing = { CONFIG_SIGNING_KEY: at.configSigningKey };
  const trust = { CONFIG_PUBLIC_KEYS: createConfigSigner(signing)?.publicKey ?? '' };
  // Allows destinations to reach the demo sink: other addresses of this machine are refused.
  const sinkRange = `${loopback}/32:${env.SINK_PORT}`;
  const egress = { EGRESS_ALLOW: [inherited['EGRESS_ALLOW'], sinkRange].filter(Boolean).join(',') };
  return {
    sink: service('sink', 'deploy/local/sink/main', undefined, {
      SINK_PORT: String(env.SINK_PORT),
      SINK_CREDENTIALS_FILE: credentialsFile(at.folder),
    }),
    'control-plane': service('control-plane', 'control-plane/main', env.CONTROL_PLANE_METRICS_PORT, {
      ...loginOf(at.log, 'controlPlane'),
      ...databaseOf(at.database, 'controlPlane'),
      // The launcher already migrated, as the owner of the tables.
      ...(at.database.isMigrated ? { MIGRATE_ON_START: 'false' } : {}),
      SECRETS_KEY: at.secretsKey,
      SOURCE_SECRETS_KEY: sourceSecretsKey,
      ...signing,
      CONTROL_PLANE_PORT: String(env.CONTROL_PLANE_PORT),
      CONTROL_PLANE_HOST: inherited['CONTROL_PLANE_HOST'] || loopback,
      // Gateways on this machine forward requests for experiments, with the client's address in a header.
      TRUSTED_PROXIES: inherited['TRUSTED_PROXIES'] || '127.0.0.1,::1',
      CONTROL_PLANE_METRICS_PORT: String(env.CONTROL_PLANE_METRICS_PORT),
      BOOTSTRAP_FILE: bootstrapFile(at.folder),
      BOOTSTRAP_SINK_URL: at.sinkUrl,
      INGEST_URL: inherited['INGEST_URL'] || stackUrls(env, inherited).gateway,
      ...egress,
    }),
    gateway: service('gateway', 'gateway/main', env.GATEWAY_METRICS_PORT, {
      ...loginOf(at.log, 'gateway'),
      GATEWAY_PORT: String(env.GATEWAY_PORT),
      GATEWAY_HOST: inherited['GATEWAY_HOST'] || loopback,
      SOURCE_SECRETS_KEY: sourceSecretsKey,
      ...trust,
      CONTROL_PLANE_URL: inherited['CONTROL_PLANE_URL'] || stackUrls(env, inherited).controlPlane,
      GATEWAY_METRICS_PORT: String(env.GATEWAY_METRICS_PORT),
    }),
    pipeline: service('pipeline', 'pipeline/main', env.PIPELINE_METRICS_PORT, {
      ...loginOf(at.log, 'pipeline'),
      ...databaseOf(at.database, 'pipeline'),
      SECRETS_KEY: at.secretsKey,
      ...trust,
      PIPELINE_METRICS_PORT: String(env.PIPELINE_METRICS_PORT),
      ...egress,
    }),
  };
}

/**
 * The login of a service at the embedded log. That server knows only the stack's users, so other login variables are
 * unset.
 */
function loginOf({ logins }: StackAddresses['log'], name: LogUserName): Record<string, string> {
  const login = logins?.[name];
  if (login === undefined) return {};
  return {
    NATS_USER: login.user,
    NATS_PASSWORD: login.password,
    NATS_TOKEN: '',
    NATS_NKEY_SEED: '',
    NATS_CREDS: '',
    NATS_INBOX_PREFIX: '',
  };
}

function databaseOf({ urls, isMigrated }: StackAddresses['database'], name: DatabaseService): Record<string, string> {
  const others = isMigrated ? { DATABASE_USER: '', DATABASE_PASSWORD: '' } : {};
  return { DATABASE_URL: urls[name], ...others };
}

/** `inherited`, overridden by `own`; a `_FILE` variable of the caller cannot replace a variable that the stack sets. */
function over(
  inherited: Readonly<Record<string, string | undefined>>,
  own: Readonly<Record<string, string>>,
): Readonly<Record<string, string | undefined>> {
  const files = new Set(Object.keys(own).map((name) => `${name}_FILE`));
  return { ...Object.fromEntries(Object.entries(inherited).filter(([name]) => !files.has(name))), ...own };
}

type Ports = Pick<StackEnv, 'GATEWAY_PORT' | 'CONTROL_PLANE_PORT' | 'SINK_PORT'>;

/** Addresses of the stack's services: `https` for a service whose certificate is in the caller's settings. */
export function stackUrls(
  { GATEWAY_PORT, CONTROL_PLANE_PORT, SINK_PORT }: Ports,
  inherited: Readonly<Record<string, string | undefined>>,
): ServiceUrls {
  const isSet = (...names: string[]): boolean => names.some((name) => (inherited[name] ?? '') !== '');
  const urlOf = (isTls: boolean, host: string | undefined, port: number): string =>
    `${isTls ? 'https' : 'http'}://${reached(host)}:${port}`;
  const isControlPlaneTls = isSet('CONTROL_PLANE_TLS_CERT', 'CONTROL_PLANE_TLS_CERT_FILE');
  return {
    gateway: urlOf(isSet('GATEWAY_TLS_CERT_FILE'), inherited['GATEWAY_HOST'], GATEWAY_PORT),
    controlPlane: urlOf(isControlPlaneTls, inherited['CONTROL_PLANE_HOST'], CONTROL_PLANE_PORT),
    sink: urlOf(false, loopback, SINK_PORT),
  };
}

/** The host of a URL at which this machine reaches a service that listens on `host`. */
function reached(host: string | undefined): string {
  if (!host || host === '0.0.0.0' || host === '::') return loopback;
  return host.includes(':') ? `[${host}]` : host;
}
