import { trustedProxiesEnv } from '../shared/admission/client-address.ts';
import { sourceSecretsEnv } from '../shared/contracts/config/secrets.ts';
import { configTrustEnv } from '../shared/contracts/config/signed-config.ts';
import { quotaEnv } from '../shared/limits/index.ts';
import { logEnv } from '../shared/nats/connection/log-access.ts';
import { topologyEnv } from '../shared/nats/streams/topology-settings.ts';
import { servingEnv } from '../shared/runtime/drain-server.ts';
import { defineEnv } from '../shared/runtime/env.ts';
import { serviceEnv } from '../shared/runtime/service-settings.ts';
import { commitEnv } from './commit/commit-settings.ts';
import { gatewayHttpEnv } from './http/http-settings.ts';
import { admissionEnv } from './ingest/admission.ts';
import { experimentsEnv } from './routes/experiments/control-plane.ts';
import { routesEnv } from './routes/routes-settings.ts';
import { gatewayStatusEnv } from './status/status-settings.ts';

/** Environment variables that the gateway reads, with their defaults. */
export const { variables: gatewayEnv, read: readGatewayEnv } = defineEnv({
  ...logEnv,
  ...topologyEnv,
  ...quotaEnv,
  ...serviceEnv,
  ...servingEnv,
  ...gatewayHttpEnv,
  ...gatewayStatusEnv,
  ...trustedProxiesEnv,
  ...experimentsEnv,
  ...routesEnv,
  ...admissionEnv,
  ...sourceSecretsEnv,
  ...configTrustEnv,
  ...commitEnv,
});

export type GatewayEnv = ReturnType<typeof readGatewayEnv>;
