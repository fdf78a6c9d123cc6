import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readStackFolder } from '../../shared/command-line/local-stack.ts';
import { loadUws } from '../../gateway/http/uws.ts';
import { claimFolder } from '../../shared/embedded/machine/folder-claim.ts';
import { assertPortFree } from '../../shared/embedded/machine/free-port.ts';
import { CannotStartError } from '../../shared/runtime/cannot-start.ts';
import { readOrMakeConfigSigningKey, readOrMakeSecretsKey, writeCredentials } from './credentials.ts';
import type { Credentials } from './credentials.ts';
import type { StackEnv } from './env.ts';
import { keepRunning } from './keep-running.ts';
import type { KeptRunning, Runnable } from './keep-running.ts';
import { createServiceRecord, endLeftovers } from './leftovers.ts';
import type { ServiceRecord } from './leftovers.ts';
import type { Progress } from './progress.ts';
import { readOrMakePasswords } from './passwords.ts';
import { keepEnvironment } from './keep-environment.ts';
import { startDatabase, startLog } from './servers.ts';
import { startService } from './service-process.ts';
import { stackServices, stackUrls } from './services.ts';
import type { ServiceName, StackService } from './services.ts';
import { waitReady, waitRevision } from './wait-ready.ts';

export type Stack = {
  readonly credentials: Credentials;
  readonly folder: string;
  /** Rejects with CannotStartError once a service is no longer restarted, because no start of it can succeed. */
  readonly givenUp: Promise<never>;
};

const readyDeadlineMs = 45_000;

/**
 * Starts everything on this machine and keeps each part running. Each part is pushed to `stops` when it starts, in
 * order, so that an interrupted start can be undone. Throws CannotStartError if no start can succeed.
 */
export async function startStack(
  env: StackEnv,
  inherited: Readonly<Record<string, string | undefined>>,
  progress: Progress,
  stops: (() => Promise<void>)[],
): Promise<Stack> {
  // Fails early if the HTTP engine does not load: the gateway would find out only after slow servers have started.
  loadUws();
  const folder = readStackFolder(env);
  await mkdir(join(folder, 'logs'), { recursive: true });
  const claim = await claimFolder(folder);
  stops.push(claim.release);
  for (const name of await endLeftovers(folder)) progress.line(`· ended the ${name} of a stack that was killed`);
  await assertPortsFree(env);

  const passwords = await readOrMakePasswords(folder);
  const [log, database] = await Promise.all([
    startLog(env, folder, passwords.log, progress).then((server) => keep(stops, server)),
    startDatabase(env, folder, passwords.database, progress).then((server) => keep(stops, server)),
  ]);
  const urls = stackUrls(env, inherited);
  const services = stackServices(
    env,
    {
      folder,
      log,
      database,
      secretsKey: await readOrMakeSecretsKey(folder),
      configSigningKey: await readOrMakeConfigSigningKey(folder),
      sinkUrl: urls.sink,
    },
    inherited,
  );
  stops.push(await keepEnvironment(folder, { log, database }, inherited));
  const { givenUp } = await startServices(services, createServiceRecord(folder), progress, stops);
  return { folder, credentials: await writeCredentials(folder, urls), givenUp };
}

async function assertPortsFree(env: StackEnv): Promise<void> {
  const ports = [
    'GATEWAY_PORT',
    'GATEWAY_METRICS_PORT',
    'CONTROL_PLANE_PORT',
    'CONTROL_PLANE_METRICS_PORT',
    'PIPELINE_METRICS_PORT',
    'SINK_PORT',
  ] as const;
  for (const variable of ports) await assertPortFree(env[variable], variable);
}

async function startServices(
  services: Readonly<Record<ServiceName, StackService>>,
  record: ServiceRecord,
  progress: Progress,
  stops: (() => Promise<void>)[],
): Promise<Pick<Stack, 'givenUp'>> {
  stops.push(() => record.clear());
  const start = (name: ServiceName): Promise<KeptRunning<Runnable>> => {
    const spec = services[name];
    return keepRunning({
      name,
      say: progress.line,
      start: async () => {
        const running = startService(spec, (line) => progress.line(`[${name}] ${line}`));
        // The service runs, recorded or not: failing here would leave it running unwatched.
        await record
          .put(name, running.pid)
          .catch((error: Error) => progress.line(`! ${name} is not in services.json: ${error.message}`));
        return { exited: running.exited, stop: () => running.stop(spec.stopDeadlineMs) };
      },
    });
  };
  // Loading code takes most of a start, so all processes start at once; readiness is awaited in order.
  const names = ['sink', 'control-plane', 'pipeline', 'gateway'] as const;
  const kept = await Promise.all(names.map(start));
  // The gateway stops first, then the services that process what it stored.
  stops.push(() => Promise.all(kept.slice(0, 3).map((service) => service.stop())).then(() => undefined));
  stops.push(() => kept[3]?.stop() ?? Promise.resolve());
  const givenUp = Promise.race(kept.map(({ givenUp }, index) => givenUp.then(() => refuse(names[index]))));
  await Promise.race([awaitReady(services, progress), givenUp]);
  return { givenUp };
}

function refuse(name: ServiceName | undefined): never {
  throw new CannotStartError(`${name} cannot start, for the reason above`);
}

async function awaitReady(services: Readonly<Record<ServiceName, StackService>>, progress: Progress): Promise<void> {
  const url = (name: ServiceName): string => services[name].metricsUrl ?? '';
  for (const name of ['control-plane', 'gateway', 'pipeline'] as const) {
    await progress.step(name, () => waitReady(name, url(name), readyDeadlineMs));
  }
  await progress.step('configuration is live', async () => {
    await waitRevision(url('control-plane'), url('gateway'), readyDeadlineMs);
    await waitRevision(url('control-plane'), url('pipeline'), readyDeadlineMs);
  });
}

function keep<Server extends { stop(): Promise<void> }>(stops: (() => Promise<void>)[], server: Server): Server {
  stops.push(() => server.stop());
  return server;
}
