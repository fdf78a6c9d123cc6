import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import { proxyProblems, splitProxies, trustedProxiesEnv } from '../shared/admission/client-address.ts';
import { logEnv, logEnvRules } from '../shared/nats/connection/log-access.ts';
import { sourceSecretsEnv, sourceSecretsRules } from '../shared/contracts/config/secrets.ts';
import { configTrustEnv } from '../shared/contracts/config/signed-config.ts';
import { topologyEnv } from '../shared/nats/streams/topology-settings.ts';
import { quotaEnv } from '../shared/limits/index.ts';
import { EnvError, readEnv, serviceEnv, servingEnv } from '../shared/runtime/env.ts';
import { commitEnv } from './commit/commit-settings.ts';
import { gatewayHttpEnv, gatewayHttpRules } from './http/http-settings.ts';
import { admissionEnv } from './ingest/admission.ts';
import { experimentsEnv } from './routes/experiments/control-plane.ts';
import { routesEnv } from './routes/routes-settings.ts';
import { gatewayStatusEnv } from './status/status-settings.ts';

/** Every variable of the gateway. */
export const gatewayEnv = {
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
};

const schema = Type.Object(gatewayEnv);
const rules = [...logEnvRules, ...gatewayHttpRules, ...sourceSecretsRules];

/** The gateway's environment. Throws EnvError with every problem. */
export function readGatewayEnv(source: Readonly<Record<string, string | undefined>> = process.env) {
  const env = readOwnEnv(source);
  const problems = proxyProblems(env.TRUSTED_PROXIES);
  if (problems.length > 0) throw new EnvError(problems);
  return { ...env, TRUSTED_PROXIES: splitProxies(env.TRUSTED_PROXIES) };
}

export type GatewayEnv = ReturnType<typeof readGatewayEnv>;

function readOwnEnv(source: Readonly<Record<string, string | undefined>>) {
  try {
    return readEnv(schema, source, (path) => readFileSync(path, 'utf8'), rules);
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    throw new EnvError([...error.problems, ...proxyProblems(source['TRUSTED_PROXIES'] ?? '')]);
  }
}
