import { randomBytes } from 'node:crypto';
import { createKeyCommand } from '../../control-plane/keys/commands.ts';
import { findFreePort } from '../../shared/embedded/machine/free-port.ts';
import { openStorage } from '../../shared/postgres/open-storage.ts';
import { compiledPath } from '../../shared/runtime/compiled-path.ts';
import { nameServerVariable } from '../machine/env.ts';
import { putLast } from '../machine/lowest-priority.ts';
import { startSink } from '../sink/sink.ts';
import type { Sink } from '../sink/sink.ts';
import { accessByKey, startControlClient } from '../system/control-client.ts';
import type { ControlAccess, ControlClient } from '../system/control-client.ts';
import { startGateway, startPipeline } from '../system/services.ts';
import type { Service } from '../system/services.ts';
import type { Stage } from '../system/stage.ts';
import { addDestination } from './attacks/attack.ts';
import type { Attack, Facts, Ground, Target } from './attacks/attack.ts';
import { answeredZone, silentZone } from './names.ts';

/** Group of the sink in which the quiet account's deliveries are counted. */
export const quietGroup = 'quiet';

/** All services with three accounts: quiet, busy (both well-behaved) and attacking. */
export type Neighbourhood = {
  readonly natsUrl: string;
  readonly pids: readonly number[];
  readonly gateway: Service;
  readonly pipeline: Service;
  readonly control: ControlClient;
  /** The quiet account's destination. */
  readonly sink: Sink;
  /** Addresses and keys of the busy account. */
  readonly busy: Target;
  readonly target: Target;
  readonly facts: Facts;
};

/** The default limits of a source, which other scenarios disable. */
const usualLimits = { RATE_LIMIT_EVENTS_PER_S: '10000', RATE_LIMIT_BYTES_PER_S: String(16 * 1024 ** 2) };

/** Starts everything on empty stores, and sets up the accounts as their owners would. */
export async function startNeighbourhood(stage: Stage, attack: Attack): Promise<Neighbourhood> {
  const [sink, attackedSink] = [await startSink(stage), await startSink(stage)];
  const hostile = await startServer(stage, 'hostile', 'bench/neighbours/hostile-main');
  const names = await startServer(stage, 'name-server', 'bench/neighbours/name-server-main');
  // The destinations of the attacker and of the busy account get the lowest priority, like the attacker.
  for (const { pid } of [attackedSink, hostile]) await putLast(pid);
  const log = await stage.startLog();
  const databaseUrl = await stage.createDatabase();
  const control = await startControlClient(stage, log.url, databaseUrl, { EGRESS_ALLOW: '127.0.0.0/8', ...attack.env });
  const gateway = await startGateway(stage, log.url, { env: { ...usualLimits, ...attack.env } });
  const pipeline = await startPipeline(stage, log.url, databaseUrl, {
    env: { [nameServerVariable]: `127.0.0.1:${names.port}`, ...attack.env },
    nodeArgs: ['--import', compiledPath(new URL('./ask-name-server.ts', import.meta.url))],
  });
  await control.call('POST', 'destinations', {
    type: 'HTTPDestination',
    name: 'quiet',
    settings: { httpDestinationUrl: named(sink.urlOf(`${quietGroup}/1`)), method: 'POST', batchSize: '1' },
  });
  await control.publish();
  const { target: busy, access: busyAccess } = await addAccount('busy', databaseUrl, control, gateway);
  await addDestination({ control: busyAccess }, named(attackedSink.urlOf('busy/1')));
  await busyAccess.publish();
  const { target, access } = await addAccount('attacker', databaseUrl, control, gateway);
  const deadPort = await findFreePort();
  const ground: Ground = {
    control: access,
    sinkUrl: (path) => named(attackedSink.urlOf(path)),
    hostileUrl: (behaviour) => `http://127.0.0.1:${hostile.port}/${behaviour}`,
    deadUrl: `http://127.0.0.1:${deadPort}/`,
    silentUrl: (name) => `http://${name}${silentZone}/`,
  };
  const facts = await attack.prepare(ground);
  await access.publish();
  await attack.fill?.(target);
  const pids = [gateway.pid, pipeline.pid, control.service.pid, log.pid, await stage.postgresPid()];
  return { natsUrl: log.url, pids, gateway, pipeline, control, sink, busy, target, facts };
}

/** Replaces the sink's address by a name, so that an attack on name resolution can affect the quiet destination. */
const named = (url: string): string => url.replace('127.0.0.1', `sink${answeredZone}`);

async function startServer(
  stage: Stage,
  name: string,
  entry: string,
): Promise<{ readonly pid: number; readonly port: number }> {
  const port = await findFreePort();
  const child = await stage.startChild({ name, entry, args: [String(port)] });
  await child.nextMessage();
  return { pid: child.pid, port };
}

async function addAccount(
  kind: string,
  databaseUrl: string,
  control: ControlClient,
  gateway: Service,
): Promise<{ readonly target: Target; readonly access: ControlAccess }> {
  const storage = await openStorage({ databaseUrl, connectionsMax: 2 });
  try {
    const newAccount = `${kind}-${randomBytes(4).toString('hex')}`;
    const order = { name: 'bench', scopes: 'all', newAccount };
    const { text: apiKey } = await createKeyCommand({ storage, now: new Date() }, order);
    const [row] = await storage
      .fork()
      .execute<{ id: string }[]>('select id from accounts where name = ?', [newAccount]);
    if (row === undefined) throw new Error(`setting up the ${kind} account: it does not exist`);
    const access = accessByKey(control.service.url, apiKey);
    const { id } = await access.call('POST', 'sources', { type: 'NodejsApi', name: kind });
    const { token } = await access.call('GET', `sources/${String(id)}/tokens`);
    const target: Target = {
      gatewayUrl: gateway.url,
      controlUrl: control.service.url,
      databaseUrl,
      accountId: row.id,
      apiKey,
      token: String(token),
    };
    return { target, access };
  } finally {
    await storage.close();
  }
}
