import { statusEnv } from '../../shared/runtime/status/serve-status.ts';
import { count, port } from '../../shared/runtime/variables.ts';

export const gatewayStatusEnv = {
  ...statusEnv,
  GATEWAY_METRICS_PORT: port('Metrics and health of the gateway', 9080),
  CANARY_EVERY_MS: count('How often a canary message proves that the log stores', 2_000, { unit: 'ms', minimum: 50 }),
};
