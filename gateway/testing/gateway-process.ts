import { fork } from 'node:child_process';
import { once } from 'node:events';
import { findFreePort } from '../../shared/embedded/machine/free-port.ts';
import { compiledPath } from '../../shared/runtime/compiled-path.ts';
import { gatewayAt } from './gateway-here.ts';
import type { GatewayUnderTest } from './gateway-here.ts';
import { readTopologySettings, topologyEnv } from '../../shared/nats/streams/topology-settings.ts';
import { defaultsOf } from '../../shared/runtime/env.ts';
import { asLogUser } from '../../shared/testing/as-log-user.ts';
import { makeTestLog } from '../../shared/testing/make-test-log.ts';
import { until } from '../../shared/testing/until.ts';

export type GatewayProcess = GatewayUnderTest & {
  readonly pid: number;
  readonly exitCode: Promise<number | null>;
  /** Sends SIGKILL, which simulates a crash. */
  kill(): Promise<void>;
};

/** Starts a gateway as a process of its own and waits until it is ready. */
export async function startGatewayProcess(
  natsUrl: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<GatewayProcess> {
  const port = Number(variables['GATEWAY_PORT'] ?? (await findFreePort()));
  const metricsPort = await findFreePort();
  const topology = defaultsOf(topologyEnv);
  // A gateway waits until a control plane has created the log.
  await makeTestLog({ url: natsUrl }, readTopologySettings(topology));
  const child = fork(compiledPath(new URL('../main.ts', import.meta.url)), [], {
    execArgv: ['--enable-source-maps'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      NATS_URL: asLogUser(natsUrl, 'gateway'),
      GATEWAY_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
      GATEWAY_METRICS_PORT: String(metricsPort),
      LOG_LEVEL: 'warn',
      CANARY_EVERY_MS: '200',
      SHUTDOWN_IDLE_MS: '0',
      // For the reason given in gateway-here.ts.
      REQUEST_DEADLINE_MS: '20000',
      ...variables,
    },
  });
  const exitCode = once(child, 'exit').then(([code]) => code as number | null);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await exitCode;
  };
  const gateway = gatewayAt(port, metricsPort, () => end('SIGTERM'));
  await until('the gateway process is ready', async () => (await gateway.readiness()).status === 200);
  return { ...gateway, pid: child.pid ?? 0, exitCode, kill: () => end('SIGKILL') };
}
