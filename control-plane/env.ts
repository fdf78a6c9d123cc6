import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { proxyProblems, trustedProxiesEnv } from '../shared/admission/client-address.ts';
import { secretsEnv, sourceSecretsEnv, sourceSecretsRules } from '../shared/contracts/config/secrets.ts';
import { configSigningEnv } from '../shared/contracts/config/signed-config.ts';
import { egressEnv, rangeProblems } from '../shared/egress/egress-rules.ts';
import { logEnv, logEnvRules } from '../shared/nats/connection/log-access.ts';
import { historyEnv } from '../shared/nats/streams/history-settings.ts';
import { topologyEnv } from '../shared/nats/streams/topology-settings.ts';
import { databaseEnv, databaseRules } from '../shared/postgres/database-access.ts';
import { databaseRolePasswordsEnv, databaseRolesEnv } from '../shared/postgres/roles/role-settings.ts';
import { besideStack } from '../shared/command-line/local-stack.ts';
import { EnvError, readEnv, serviceEnv, servingEnv } from '../shared/runtime/env.ts';
import type { EnvRule } from '../shared/runtime/env.ts';
import { connectionLimitsEnv } from './api/connection-limits.ts';
import { eventStreamsEnv } from './api/event-streams.ts';
import { requestLimitsEnv } from './api/request-limits.ts';
import { controlPlaneHttpEnv, controlPlaneHttpRules } from './api/http-settings.ts';
import { bootstrapEnv } from './bootstrap/bootstrap.ts';
import { destinationTestsEnv } from './destinations/destination-tests.ts';
import { erasuresEnv } from './erasures/erasure-settings.ts';
import { experimentLimitsEnv } from './experiments/assignment/experiment-limits.ts';
import { refusalLimitsEnv } from './keys/refusal-limits.ts';
import { scopesEnv } from './keys/scopes.ts';
import { alertsEnv } from './operate/read-alerts.ts';
import { publishingEnv } from './publishing/publishing-settings.ts';
import { ingestUrlEnv } from './sources/ingest-url.ts';
import { accountLimitsEnv } from './store/account-limits.ts';
import { databasesEnv } from './store/databases-settings.ts';
import { signInEnv, signInProblems } from './sessions/sign-in-settings.ts';

/** Every variable of the control plane. */
export const controlPlaneEnv = {
  ...logEnv,
  ...topologyEnv,
  ...historyEnv,
  ...serviceEnv,
  ...servingEnv,
  ...databaseEnv,
  ...secretsEnv,
  ...sourceSecretsEnv,
  ...configSigningEnv,
  ...controlPlaneHttpEnv,
  ...trustedProxiesEnv,
  ...egressEnv,
  ...destinationTestsEnv,
  ...erasuresEnv,
  ...databasesEnv,
  ...publishingEnv,
  ...scopesEnv,
  ...alertsEnv,
  ...ingestUrlEnv,
  ...eventStreamsEnv,
  ...connectionLimitsEnv,
  ...requestLimitsEnv,
  ...refusalLimitsEnv,
  ...experimentLimitsEnv,
  ...accountLimitsEnv,
  ...databaseRolesEnv,
  ...signInEnv,
  ...bootstrapEnv,
};

const schema = Type.Object(controlPlaneEnv);

export type ControlPlaneEnv = Static<typeof schema>;

const readFile = (path: string): string => readFileSync(path, 'utf8');

const rules = [...logEnvRules, ...databaseRules, ...controlPlaneHttpRules, ...sourceSecretsRules];

/** The environment of the service. Throws EnvError with every problem. */
export function readControlPlaneEnv(
  source: Readonly<Record<string, string | undefined>> = process.env,
): ControlPlaneEnv {
  const env = readEnv(schema, source, readFile, rules);
  const problems = [
    ...proxyProblems(env.TRUSTED_PROXIES),
    ...rangeProblems(env),
    ...signInProblems(env.CONSOLE_SIGN_IN),
  ];
  if (problems.length > 0) throw new EnvError(problems);
  return env;
}

const secretsCommandSchema = Type.Object({ ...databaseEnv, ...secretsEnv, ...sourceSecretsEnv });

/** The environment of a command that works on the database and on what is sealed there. */
export function readSecretsCommandEnv(
  source: Readonly<Record<string, string | undefined>> = besideStack(process.env),
): Static<typeof secretsCommandSchema> {
  return readEnv(secretsCommandSchema, source, readFile, [...databaseRules, ...sourceSecretsRules]);
}

/** Every variable of the command that migrates. */
export const migrateEnv = { ...databaseEnv, ...databaseRolesEnv, ...databaseRolePasswordsEnv };

const migrateSchema = Type.Object(migrateEnv);

/** The environment of the command that migrates. */
export function readMigrateEnv(
  source: Readonly<Record<string, string | undefined>> = process.env,
): Static<typeof migrateSchema> {
  return readEnv(migrateSchema, source, readFile, databaseRules);
}

const commandSchema = Type.Object(databaseEnv);

const databaseIsNamed: EnvRule = ({ DATABASE_URL }) =>
  DATABASE_URL === undefined
    ? 'DATABASE_URL is required: no local stack runs from the folder SLUICE_DIR; npm start starts one'
    : undefined;

/** The environment of a command that only works on the database: that of the local stack where it names none. */
export function readCommandEnv(
  source: Readonly<Record<string, string | undefined>> = besideStack(process.env),
): Static<typeof commandSchema> {
  return readEnv(commandSchema, source, readFile, [...databaseRules, databaseIsNamed]);
}
