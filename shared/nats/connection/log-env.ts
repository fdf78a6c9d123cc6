import { Type } from 'typebox';
import type { Static, TObject } from 'typebox';
import { count } from '../../runtime/env.ts';
import { atMostOne, together } from '../../runtime/env-rules.ts';
import type { EnvRule } from '../../runtime/env-rules.ts';

const certificate = '-----BEGIN CERTIFICATE-----';

/** How a process reaches the log. Every one of these may come from a file: `NATS_CA_FILE` for `NATS_CA`, and so on. */
export const logEnv = {
  /** Servers of the log, comma separated. `tls://` insists on an encrypted connection. */
  NATS_URL: Type.String({ minLength: 1, default: 'nats://127.0.0.1:4222' }),
  /** Their monitor ports, comma separated: nothing else tells whether they sync every write. */
  NATS_MONITOR_URL: Type.Optional(Type.String({ pattern: '^https?://' })),
  /** Certificates of the authorities that the servers' certificates are signed by, in PEM; else those Node knows. */
  NATS_CA: Type.Optional(Type.String({ pattern: certificate })),
  /** This client's own certificate and its key, in PEM, for servers that verify clients. */
  NATS_CERT: Type.Optional(Type.String({ pattern: certificate })),
  NATS_KEY: Type.Optional(Type.String({ pattern: '-----BEGIN [A-Z ]*PRIVATE KEY-----' })),
  NATS_USER: Type.Optional(Type.String({ minLength: 1 })),
  NATS_PASSWORD: Type.Optional(Type.String({ minLength: 1 })),
  NATS_TOKEN: Type.Optional(Type.String({ minLength: 1 })),
  /** Seed of a user's nkey. */
  NATS_NKEY_SEED: Type.Optional(Type.String({ pattern: '^SU[A-Z2-7]+$' })),
  /** A credentials file as `nsc` writes it: a JWT and the seed of its key. */
  NATS_CREDS: Type.Optional(Type.String({ pattern: '-----BEGIN NATS USER JWT-----' })),
};

/** How the log is kept: see TopologySettings. The same for every service. */
export const topologyEnv = {
  LOG_PARTITIONS: Type.Integer({ minimum: 1, maximum: 256, default: 4 }),
  LOG_REPLICAS: Type.Integer({ minimum: 1, maximum: 5, default: 1 }),
  LOG_INGEST_BYTES_MAX: count(1024 ** 3, 1024 ** 2),
  LOG_EVENTS_BYTES_MAX: count(4 * 1024 ** 3, 1024 ** 2),
  LOG_RETRY_BYTES_MAX: count(1024 ** 3, 1024 ** 2),
  LOG_DEAD_LETTERS_BYTES_MAX: count(1024 ** 3, 1024 ** 2),
  /** Eight bytes for each id that a partition remembers (RESOLVER_DEDUPLICATION_IDS_MAX), and a tenth more. */
  LOG_DEDUPLICATION_BYTES_MAX: count(1024 ** 3, 1024 ** 2),
};

/** What must hold between the variables of `logEnv`. */
export const logEnvRules: readonly EnvRule[] = [
  together('NATS_CERT', 'NATS_KEY'),
  together('NATS_USER', 'NATS_PASSWORD'),
  atMostOne('NATS_USER', 'NATS_TOKEN', 'NATS_NKEY_SEED', 'NATS_CREDS'),
];

/** The variables of `logEnv`, read. */
export type LogVariables = Static<TObject<typeof logEnv>>;
