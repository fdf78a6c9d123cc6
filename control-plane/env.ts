import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { proxyProblems } from '../shared/admission/trusted-proxies.ts';
import { readRanges } from '../shared/egress/egress-rules.ts';
import { logEnv, logEnvRules, topologyEnv } from '../shared/nats/connection/log-env.ts';
import { EnvError, count, port, readEnv, serviceEnv, servingEnv } from '../shared/runtime/env.ts';
import { needs, together } from '../shared/runtime/env-rules.ts';
import { databaseEnv, databaseRules } from '../shared/postgres/database-env.ts';

import type { TlsTexts } from './api/https-server.ts';

const base64Of32Bytes = '^[A-Za-z0-9+/_-]{43}=?$';

const secretsEnv = {
  /** 32 bytes in base64: seals destination secrets and source keys, and signs list cursors. */
  SECRETS_KEY: Type.String({ pattern: base64Of32Bytes }),
};

const schema = Type.Object({
  ...logEnv,
  ...topologyEnv,
  ...serviceEnv,
  ...servingEnv,
  ...databaseEnv,
  ...secretsEnv,
  CONTROL_PLANE_PORT: port(8081),
  CONTROL_PLANE_METRICS_PORT: port(9081),
  CONTROL_PLANE_HOST: Type.String({ minLength: 1, default: '0.0.0.0' }),
  /** Addresses or CIDR ranges, comma separated, of proxies and gateways whose X-Forwarded-For is believed. */
  TRUSTED_PROXIES: Type.String({ default: '' }),
  /** CIDR ranges that tests of destinations may reach although they are not public, comma separated, as in the pipeline. */
  EGRESS_ALLOW: Type.String({ default: '' }),
  /** How long the test of a destination may take, in ms. */
  DESTINATION_TEST_TIMEOUT_MS: count(10_000, 100),
  /** Tests of destinations at a time. */
  DESTINATION_TESTS_MAX: count(8),
  /** Certificate chain and key, PEM: with them the interface speaks TLS, and only TLS. The metrics port stays plain. */
  CONTROL_PLANE_TLS_CERT: Type.Optional(Type.String({ pattern: '-----BEGIN CERTIFICATE-----' })),
  CONTROL_PLANE_TLS_KEY: Type.Optional(Type.String({ pattern: '-----BEGIN [A-Z ]*PRIVATE KEY-----' })),
  /** Of an encrypted key. */
  CONTROL_PLANE_TLS_PASSPHRASE: Type.Optional(Type.String({ minLength: 1 })),
  /** Connections to PostgreSQL at most. */
  CONTROL_PLANE_DATABASE_CONNECTIONS_MAX: count(10, 2),
  /** Whether a start brings the schema up to date; turn it off where a job of its own does. */
  MIGRATE_ON_START: Type.Boolean({ default: true }),
  /** The largest configuration of one account that may be published, in bytes; the log's own limit holds as well. */
  CONFIG_BYTES_MAX: count(8 * 1024 * 1024, 1024),
  /** On an empty database: where to write the first credentials. Nothing is made without it. */
  BOOTSTRAP_FILE: Type.Optional(Type.String({ minLength: 1 })),
  /** Base URL that the first destination delivers to. */
  BOOTSTRAP_SINK_URL: Type.Optional(Type.String({ pattern: '^https?://' })),
});

export type ControlPlaneEnv = Static<typeof schema>;

const readFile = (path: string): string => readFileSync(path, 'utf8');

const rules = [
  ...logEnvRules,
  ...databaseRules,
  together('CONTROL_PLANE_TLS_CERT', 'CONTROL_PLANE_TLS_KEY'),
  needs('CONTROL_PLANE_TLS_PASSPHRASE', 'CONTROL_PLANE_TLS_KEY'),
];

/** The environment of the service. */
export function readControlPlaneEnv(
  source: Readonly<Record<string, string | undefined>> = process.env,
): ControlPlaneEnv {
  const env = readEnv(schema, source, readFile, rules);
  const problems = proxyProblems(env.TRUSTED_PROXIES);
  if (readRanges(env.EGRESS_ALLOW) === undefined) {
    problems.push('EGRESS_ALLOW must hold CIDR ranges, such as 10.0.0.0/8');
  }
  if (problems.length > 0) throw new EnvError(problems);
  return env;
}

/** Undefined: the interface speaks plain HTTP. */
export function tlsTexts(env: ControlPlaneEnv): TlsTexts | undefined {
  const { CONTROL_PLANE_TLS_CERT: cert, CONTROL_PLANE_TLS_KEY: key, CONTROL_PLANE_TLS_PASSPHRASE: passphrase } = env;
  if (cert === undefined || key === undefined) return undefined;
  return { cert, key, ...(passphrase === undefined ? {} : { passphrase }) };
}

const commandSchema = Type.Object(databaseEnv);

/** The environment of a command that only works on the database. */
export function readCommandEnv(
  source: Readonly<Record<string, string | undefined>> = process.env,
): Static<typeof commandSchema> {
  return readEnv(commandSchema, source, readFile, databaseRules);
}
