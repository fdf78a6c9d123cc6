import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { logEnv, logEnvRules, topologyEnv } from '../../shared/nats/connection/log-env.ts';
import { readEnv, serviceEnv } from '../../shared/runtime/env.ts';
import { databaseEnv, databaseRules } from '../../shared/postgres/database-env.ts';

const { DATABASE_URL, ...otherDatabaseEnv } = databaseEnv;

const schema = Type.Object({
  ...logEnv,
  ...topologyEnv,
  ...serviceEnv,
  ...otherDatabaseEnv,
  /** Without it the database is not looked at: a gateway's machine has none. */
  DATABASE_URL: Type.Optional(DATABASE_URL),
  SECRETS_KEY: Type.Optional(Type.String({ minLength: 1 })),
  /** The local stack's folder, whose disk is looked at where it is there. */
  SLUICE_DIR: Type.String({ minLength: 1, default: '.sluice' }),
});

export type DoctorEnv = Static<typeof schema>;

/** What the services of this machine are told. Throws EnvError with every problem. */
export function readDoctorEnv(source: Readonly<Record<string, string | undefined>> = process.env): DoctorEnv {
  return readEnv(schema, source, (path) => readFileSync(path, 'utf8'), [...logEnvRules, ...databaseRules]);
}
