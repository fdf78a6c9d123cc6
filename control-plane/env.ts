import { trustedProxiesEnv } from '../shared/admission/client-address.ts';
import { secretsEnv, sourceSecretsEnv } from '../shared/contracts/config/secrets.ts';
import { configSigningEnv } from '../shared/contracts/config/signed-config.ts';
import { egressEnv } from '../shared/egress/egress-rules.ts';
import { logEnv } from '../shared/nats/connection/log-access.ts';
import { historyEnv } from '../shared/nats/streams/history-settings.ts';
import { topologyEnv } from '../shared/nats/streams/topology-settings.ts';
import { databaseAddress, databaseEnv } from '../shared/postgres/database-access.ts';
import { databaseRolesEnv, roleLoginsEnv } from '../shared/postgres/roles/role-settings.ts';
import { besideStack } from '../shared/command-line/local-stack.ts';
import { servingEnv } from '../shared/runtime/drain-server.ts';
import { defineEnv } from '../shared/runtime/env.ts';
import { serviceEnv } from '../shared/runtime/service-settings.ts';
import { visitorSizeEnv } from '../shared/visitors/visitor-size.ts';
import { connectionLimitsEnv } from './api/connection-limits.ts';
import { eventStreamsEnv } from './api/event-streams.ts';
import { requestLimitsEnv } from './api/request-limits.ts';
import { controlPlaneHttpEnv } from './api/http-settings.ts';
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
import { signInEnv } from './sessions/sign-in-settings.ts';

/** Every variable of the control plane. */
export const { variables: controlPlaneEnv, read: readControlPlaneEnv } = defineEnv({
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
  ...visitorSizeEnv,
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
});

export type ControlPlaneEnv = ReturnType<typeof readControlPlaneEnv>;

/** The environment of the command that migrates. */
export const { variables: migrateEnv, read: readMigrateEnv } = defineEnv({ ...databaseEnv, ...roleLoginsEnv });

/** Commands that run next to a local stack use the stack's servers, unless the shell names others. */
const usualSource = () => besideStack(process.env);

/** The environment of a command that works on the database and on secrets sealed there. */
export const { read: readSecretsCommandEnv } = defineEnv(
  { ...databaseEnv, ...secretsEnv, ...sourceSecretsEnv },
  usualSource,
);

/** The environment of a command that only works on the database. */
export const { read: readCommandEnv } = defineEnv(
  {
    ...databaseEnv,
    DATABASE_URL: databaseAddress('no local stack runs from the folder SLUICE_DIR; npm start starts one'),
  },
  usualSource,
);
