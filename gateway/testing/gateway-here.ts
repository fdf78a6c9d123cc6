import { createLogger } from '../../shared/runtime/logger.ts';
import { createScope } from '../../shared/runtime/scope.ts';
import { readGatewayEnv } from '../env.ts';
import { startGateway } from '../start-gateway.ts';
import { findFreePort } from '../../shared/embedded/machine/free-port.ts';
import { logAccess } from '../../shared/nats/connection/log-access.ts';
import { readTopologySettings } from '../../shared/nats/streams/topology-settings.ts';
import { asLogUser } from '../../shared/testing/as-log-user.ts';
import { makeTestLog } from '../../shared/testing/make-test-log.ts';
import { until } from '../../shared/testing/until.ts';

export type GatewayUnderTest = {
  readonly port: number;
  readonly url: string;
  readonly metricsUrl: string;
  readiness(): Promise<{ readonly status: number; readonly body: string }>;
  metrics(): Promise<string>;
  stop(): Promise<void>;
};

/** Starts a gateway in this process and waits until it is ready. By default creates its log first. */
export async function startGatewayHere(
  natsUrl: string,
  variables: Readonly<Record<string, string>> = {},
  { makesLog = true }: { readonly makesLog?: boolean } = {},
): Promise<GatewayUnderTest> {
  const metricsPort = await findFreePort();
  const env = readGatewayEnv({
    NATS_URL: asLogUser(natsUrl, 'gateway'),
    GATEWAY_HOST: '127.0.0.1',
    GATEWAY_PORT: '0',
    GATEWAY_METRICS_PORT: String(metricsPort),
    LOG_LEVEL: 'silent',
    CANARY_EVERY_MS: '200',
    // Tests leave idle connections open.
    SHUTDOWN_IDLE_MS: '0',
    // On a busy machine, a log server without CPU for two seconds must not cause refused requests. A test of the
    // deadline sets its own value.
    REQUEST_DEADLINE_MS: '20000',
    ...variables,
  });
  // A gateway waits until a control plane has created the log.
  if (makesLog) await makeTestLog({ ...logAccess(env), url: natsUrl }, readTopologySettings(env));
  const logger = createLogger('gateway', env.LOG_LEVEL);
  const scope = createScope(logger, 60_000);
  const { port } = await startGateway(env, logger, scope);
  const gateway = gatewayAt(port, metricsPort, () => scope.end('test ended'));
  await until('the gateway is ready', async () => (await gateway.readiness()).status === 200);
  return gateway;
}

/** A client of the gateway at these ports. */
export function gatewayAt(port: number, metricsPort: number, stop: () => Promise<void>): GatewayUnderTest {
  const metricsUrl = `http://127.0.0.1:${metricsPort}`;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    metricsUrl,
    async readiness() {
      try {
        const answer = await fetch(`${metricsUrl}/readyz`);
        return { status: answer.status, body: await answer.text() };
      } catch {
        return { status: 0, body: '' };
      }
    },
    metrics: async () => (await fetch(`${metricsUrl}/metrics`)).text(),
    stop,
  };
}
