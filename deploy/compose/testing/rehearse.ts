import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { LocalContainer } from './local-container.ts';
import { makeLocalStage } from './local-stage.ts';
import type { LocalStage } from './local-stage.ts';
import { ownServices, readCompose } from './read-compose.ts';

// Runs compose.yaml without containers: the same commands with the same environment and secrets, in the same order,
// with local addresses and paths. Sends an event through each gateway and waits for it at the demo destination. Not
// covered: the image itself, nginx, Prometheus, Grafana. npm run build && node
// dist/deploy/compose/testing/rehearse.js

const deadlineMs = 120_000;
const pollMs = 200;
const requestDeadlineMs = 5_000;
const gateways = ['gateway-1', 'gateway-2'];

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const compose = await readCompose();
const stops: (() => Promise<void>)[] = [];

const stopAll = async (): Promise<void> => {
  for (const stop of stops.splice(0).toReversed()) await stop();
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void stopAll().finally(() => process.exit(1)));
}

try {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-rehearsal-'));
  stops.push(() => rm(folder, { recursive: true, force: true }));
  const stage = await makeLocalStage(folder, compose, say);
  await startServers(stage);
  await startServices(stage);
  await sendThroughEach(stage, folder);
  say('everything compose.yaml starts of ours ran, and events went through');
} finally {
  await stopAll();
}

async function startServers(stage: LocalStage): Promise<void> {
  const nodes: LocalContainer[] = [];
  for (const name of Object.keys(compose.services).filter((each) => each.startsWith('nats-'))) {
    nodes.push(keep(await stage.startNode(name)));
  }
  keep(await stage.startDatabase());
  for (const node of nodes) await good(node, `http://127.0.0.1:${stage.place.portOf(node.name, '8222')}/healthz`);
  say(`✓ PostgreSQL, ${nodes.map(({ name }) => name).join(', ')}`);
}

async function startServices(stage: LocalStage): Promise<void> {
  const migrate = stage.startOwn('migrate');
  if ((await migrate.exited) !== 0) throw new Error(`migrate failed:\n${migrate.said()}`);
  say('✓ migrate');
  const others = ownServices(compose).filter(([name]) => name !== 'migrate');
  const running = others.map(([name, { environment = {} }]) => ({ environment, service: keep(stage.startOwn(name)) }));
  for (const { environment, service } of running) {
    const metrics = Object.keys(environment).find((variable) => variable.endsWith('_METRICS_PORT'));
    const port = stage.place.portOf(service.name, String(environment[metrics ?? 'SINK_PORT']));
    await good(service, `http://127.0.0.1:${port}/${metrics === undefined ? 'livez' : 'readyz'}`);
    say(`✓ ${service.name}`);
  }
  const ended = running.filter(({ service }) => service.hasEnded()).map(({ service }) => service.said());
  if (ended.length > 0) throw new Error(`services ended by themselves:\n${ended.join('\n')}`);
}

async function sendThroughEach(stage: LocalStage, folder: string): Promise<void> {
  const file = join(folder, 'control-plane/var/lib/sluice/credentials.json');
  const { sourceToken } = JSON.parse(await readFile(file, 'utf8')) as { sourceToken: string };
  const events = `http://127.0.0.1:${stage.place.portOf('sink', '8090')}/events`;
  for (const name of gateways) {
    const url = `http://127.0.0.1:${stage.place.portOf(name, '8080')}/api/v1/track`;
    const body = JSON.stringify({ token: sourceToken, event: 'Order Completed', externalId: name });
    const headers = { 'content-type': 'application/json' };
    await until(`${name} to take an event`, async () => (await ask(url, { method: 'POST', headers, body })).ok);
    await until(`its event at the demo destination`, async () => (await (await ask(events)).text()).includes(name));
    say(`✓ an event through ${name}`);
  }
}

function keep<Running extends { stop(): Promise<void> }>(running: Running): Running {
  stops.push(() => running.stop());
  return running;
}

/** Waits for a 2xx from a service. Throws if the service exits in the meantime, although compose would restart it. */
async function good(service: LocalContainer, url: string): Promise<void> {
  const describe = (): string => `${service.name} at ${url}, which said:\n${service.said()}`;
  await until(describe, async () => (await ask(url)).ok, service.hasEnded);
}

function ask(url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...init, signal: AbortSignal.timeout(requestDeadlineMs) });
}

async function until(
  what: string | (() => string),
  isSo: () => Promise<boolean>,
  isVain = (): boolean => false,
): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await isSo().catch(() => false))) {
    if (isVain() || performance.now() > deadline) {
      throw new Error(`waited in vain for ${typeof what === 'string' ? what : what()}`);
    }
    await delay(pollMs);
  }
}
