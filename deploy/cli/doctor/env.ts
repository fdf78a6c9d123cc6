import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { secretsEnv, sourceSecretsEnv, sourceSecretsRules } from '../../../shared/contracts/config/secrets.ts';
import { configSigningEnv, configTrustEnv } from '../../../shared/contracts/config/signed-config.ts';
import { logEnv, logEnvRules } from '../../../shared/nats/connection/log-access.ts';
import { topologyEnv } from '../../../shared/nats/streams/topology-settings.ts';
import { readEnv, serviceEnv } from '../../../shared/runtime/env.ts';
import { databaseEnv, databaseRules } from '../../../shared/postgres/database-access.ts';
import { stackFolderEnv } from '../../../shared/command-line/local-stack.ts';
import { memoryEnv } from './memory-settings.ts';

const { DATABASE_URL, ...otherDatabaseEnv } = databaseEnv;

/** Every variable of the doctor: those of the services of its machine, of which none is required. */
export const doctorEnv = {
  ...logEnv,
  ...topologyEnv,
  ...serviceEnv,
  ...otherDatabaseEnv,
  // Without it the database is not looked at: a gateway's machine has none.
  DATABASE_URL: Type.Optional(DATABASE_URL),
  ...secretsEnv,
  SECRETS_KEY: Type.Optional(secretsEnv.SECRETS_KEY),
  ...sourceSecretsEnv,
  ...configSigningEnv,
  ...configTrustEnv,
  ...stackFolderEnv,
  ...memoryEnv,
};

const schema = Type.Object(doctorEnv);

export type DoctorEnv = Static<typeof schema>;

/** The environment of the services of this machine. Throws EnvError with every problem. */
export function readDoctorEnv(source: Readonly<Record<string, string | undefined>> = process.env): DoctorEnv {
  const rules = [...logEnvRules, ...databaseRules, ...sourceSecretsRules];
  return readEnv(schema, source, (path) => readFileSync(path, 'utf8'), rules);
}
