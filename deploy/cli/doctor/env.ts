import { Type } from 'typebox';
import { secretsEnv, sourceSecretsEnv } from '../../../shared/contracts/config/secrets.ts';
import { configSigningEnv, configTrustEnv } from '../../../shared/contracts/config/signed-config.ts';
import { logEnv } from '../../../shared/nats/connection/log-access.ts';
import { topologyEnv } from '../../../shared/nats/streams/topology-settings.ts';
import { defineEnv } from '../../../shared/runtime/env.ts';
import { serviceEnv } from '../../../shared/runtime/service-settings.ts';
import { databaseEnv } from '../../../shared/postgres/database-access.ts';
import { stackFolderEnv } from '../../../shared/command-line/local-stack.ts';
import { memoryEnv } from './memory-settings.ts';

const { DATABASE_URL, ...otherDatabaseEnv } = databaseEnv;

/** The doctor's variables: the variables of the services on its machine, all optional. */
export const { variables: doctorEnv, read: readDoctorEnv } = defineEnv({
  ...logEnv,
  ...topologyEnv,
  ...serviceEnv,
  ...otherDatabaseEnv,
  // If unset, the database is not checked: a machine that runs only gateways has no access to the database.
  DATABASE_URL: Type.Optional(DATABASE_URL),
  ...secretsEnv,
  SECRETS_KEY: Type.Optional(secretsEnv.SECRETS_KEY),
  ...sourceSecretsEnv,
  ...configSigningEnv,
  ...configTrustEnv,
  ...stackFolderEnv,
  ...memoryEnv,
});

export type DoctorEnv = ReturnType<typeof readDoctorEnv>;
