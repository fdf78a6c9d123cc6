import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { metricsHost } from '../../shared/runtime/status/serve-status.ts';
import { count, port } from '../../shared/runtime/variables.ts';

export const { variables: gatewayStatusEnv, read: readGatewayStatusSettings } = defineSettings({
  host: metricsHost,
  port: fromEnv({ GATEWAY_METRICS_PORT: port('Metrics and health of the gateway', 9080) }),
  canaryEveryMs: fromEnv({
    CANARY_EVERY_MS: count('How often a canary message proves that the log stores', 2_000, { unit: 'ms', minimum: 50 }),
  }),
});
