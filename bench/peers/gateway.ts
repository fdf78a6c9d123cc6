import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { collectionNames } from '../../shared/config/account-config.ts';
import type { AccountConfig, Snapshot } from '../../shared/config/account-config.ts';
import { hashSourceKey } from '../../shared/config/source-key.ts';
import { findFreePort } from '../../shared/embedded/free-port.ts';
import { connectLog } from '../../shared/log/connection.ts';
import { openBuckets } from '../../shared/log/open-buckets.ts';
import { accountKey } from '../../shared/log/subjects.ts';
import { inheritedEnv } from '../env.ts';

export type BenchGateway = {
  readonly port: number;
  readonly metricsPort: number;
  readonly pid: number;
  stop(): Promise<void>;
};

const readyDeadlineMs = 20_000;
/** Above what any load reaches: the bench measures the path, not the limit. */
const eventsPerSecondMax = 10_000_000;

/** Starts the real gateway on a log whose configuration holds one source with `token`. `nodeArgs`: for a profile, say. */
export async function startGateway(
  natsUrl: string,
  token: string,
  nodeArgs: readonly string[] = [],
): Promise<BenchGateway> {
  await publishSource(natsUrl, token);
  const [port, metricsPort] = [await findFreePort(), await findFreePort()];
  const child = fork(fileURLToPath(new URL('../../gateway/main.ts', import.meta.url)), [], {
    execArgv: ['--import', 'tsx', ...nodeArgs],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      ...inheritedEnv(),
      NATS_URL: natsUrl,
      GATEWAY_PORT: String(port),
      GATEWAY_METRICS_PORT: String(metricsPort),
      RATE_LIMIT_EVENTS_PER_S: String(eventsPerSecondMax),
      LOG_LEVEL: 'warn',
    },
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await exited;
    clearTimeout(timer);
  };
  try {
    await waitReady(`http://127.0.0.1:${metricsPort}/readyz`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, metricsPort, pid: child.pid ?? 0, stop };
}

async function publishSource(natsUrl: string, token: string): Promise<void> {
  const connection = await connectLog({ url: natsUrl, name: 'bench' });
  const { config } = await openBuckets(connection, 1);
  const empty = Object.fromEntries(collectionNames.map((name) => [name, []])) as unknown as Snapshot;
  const source = { id: 'bench-source', name: 'bench', type: 'NodejsApi', status: 'Enabled' };
  const document: AccountConfig = {
    format: 1,
    accountId: 'bench-account',
    versionId: 'bench-version',
    versionNumber: 1,
    publishedAt: new Date().toISOString(),
    sourceKeys: [{ keyHash: hashSourceKey(token), sourceId: source.id, test: false }],
    collections: { ...empty, sources: [source] },
  };
  await config.put(accountKey(document.accountId), Buffer.from(JSON.stringify(document)));
  await connection.close();
}

async function waitReady(url: string): Promise<void> {
  const deadline = performance.now() + readyDeadlineMs;
  for (;;) {
    const problem = await fetch(url).then(
      async (answer) => (answer.ok ? undefined : answer.text()),
      () => 'no answer',
    );
    if (problem === undefined) return;
    if (performance.now() > deadline) throw new Error(`starting the gateway: it did not get ready: ${problem}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
