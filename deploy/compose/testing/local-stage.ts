import { copyFile, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { defaultEmbeddedCacheDir } from '../../../shared/embedded/machine/env.ts';
import { findFreePort } from '../../../shared/embedded/machine/free-port.ts';
import { findNatsServer } from '../../../shared/embedded/nats/nats-binary.ts';
import { startPostgresServer } from '../../../shared/embedded/postgres/postgres-server.ts';
import { runCommand } from '../../../shared/embedded/machine/run-command.ts';
import { fileURLToPath } from 'node:url';
import { topFolder } from '../../../shared/runtime/compiled-path.ts';
import { startLocalContainer } from './local-container.ts';
import type { LocalContainer } from './local-container.ts';
import { createLocalPlace, localNatsConf, namedAddresses } from './local-place.ts';
import type { LocalPlace } from './local-place.ts';
import { ownServices, readHere } from './read-compose.ts';
import type { Compose, ComposeService } from './read-compose.ts';

/** A folder in which the services of a compose file run as ordinary processes. */
export type LocalStage = {
  readonly place: LocalPlace;
  startNode(name: string): Promise<LocalContainer>;
  startDatabase(): Promise<{ stop(): Promise<void> }>;
  /** Starts one of our services. The database must exist. */
  startOwn(name: string): LocalContainer;
};

const secretsDeadlineMs = 30_000;
const top = fileURLToPath(topFolder);

/** Creates the secrets and the image's files and reserves ports; starts nothing. */
export async function makeLocalStage(
  folder: string,
  compose: Compose,
  say: (line: string) => void,
): Promise<LocalStage> {
  const natsConf = await readHere('nats.conf');
  const own = new Map(ownServices(compose));
  const place = createLocalPlace(folder, await choosePorts(compose, natsConf));
  await makeSecrets(folder);
  await makeApp(folder);
  let databaseUrl = '';
  return {
    place,
    startNode: (name) => startNode(folder, name, compose.services[name], localNatsConf(natsConf, name, place), place),
    async startDatabase() {
      const server = await startPostgresServer({ dataDir: join(folder, 'postgres'), onProgress: say });
      databaseUrl = await hidePassword(server.url, join(folder, 'secrets/postgres-password'));
      return {
        async stop() {
          await server.stop();
          // The server keeps its data outside of `folder` if its user may not enter `folder`.
          await rm(server.home, { recursive: true, force: true });
        },
      };
    },
    startOwn(name) {
      const { command = [], environment = {} } = own.get(name) ?? {};
      return startLocalContainer(name, ['/bin/sh', join(folder, 'app/sluice'), ...command], {
        ...localEnvironment(name, environment, place, databaseUrl),
        NODE_ENV: 'production',
        PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      });
    },
  };
}

/** A free port for every configured address, and for every port a service listens on. */
async function choosePorts(compose: Compose, natsConf: string): Promise<ReadonlyMap<string, number>> {
  const own = ownServices(compose);
  const names = Object.keys(compose.services);
  const told = own.map(([, { environment = {} }]) => Object.values(environment).join(' '));
  const listened = own.flatMap(([name, { environment = {} }]) =>
    Object.entries(environment).flatMap(([variable, port]) => (variable.endsWith('_PORT') ? `${name}:${port}` : [])),
  );
  const nodes = names.filter((name) => name.startsWith('nats-'));
  const ofNodes = nodes.flatMap((name) => ['4222', '6222', '8222'].map((port) => `${name}:${port}`));
  const addresses = new Set([...namedAddresses([natsConf, ...told], names), ...listened, ...ofNodes]);
  const ports = new Set<number>();
  while (ports.size < addresses.size) ports.add(await findFreePort());
  return new Map([...addresses].map((address, at) => [address, [...ports][at] ?? 0]));
}

async function makeSecrets(folder: string): Promise<void> {
  const script = join(folder, 'make-secrets');
  await copyFile(join(top, 'deploy/compose/make-secrets'), script);
  await runCommand('/bin/sh', [script], { timeoutMs: secretsDeadlineMs });
}

/** Creates `app` as in the image: the entry script and the build. */
async function makeApp(folder: string): Promise<void> {
  await mkdir(join(folder, 'app'));
  await copyFile(join(top, 'deploy/docker/sluice'), join(folder, 'app/sluice'));
  await symlink(join(top, 'dist'), join(folder, 'app/dist'));
  // The volume of the control plane.
  await mkdir(join(folder, 'control-plane/var/lib/sluice'), { recursive: true });
}

async function startNode(
  folder: string,
  name: string,
  service: ComposeService | undefined,
  conf: string,
  place: LocalPlace,
): Promise<LocalContainer> {
  const { path } = await findNatsServer({ cacheDir: defaultEmbeddedCacheDir(), onProgress: () => undefined });
  const [bin, etc] = [join(folder, name, 'bin'), join(folder, name, 'etc/nats')];
  await mkdir(bin, { recursive: true });
  await mkdir(etc, { recursive: true });
  await symlink(path, join(bin, 'nats-server'));
  await writeFile(join(etc, 'nats.conf'), conf);
  await copyFile(join(top, 'deploy/nats/accounts.conf'), join(etc, 'accounts.conf'));
  const words = [...(service?.entrypoint ?? []), ...(service?.command ?? [])];
  return startLocalContainer(
    name,
    // Compose reads $$ as one $.
    words.map((word) => place.here(word.replaceAll('$$', '$'), name)),
    { ...textsOf(service?.environment), PATH: `${bin}:/usr/bin:/bin` },
  );
}

const textsOf = (environment: ComposeService['environment'] = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(environment).map(([variable, value]) => [variable, String(value)]));

/** Writes the password of an address to the secret file that services read, and returns the address without it. */
async function hidePassword(address: string, secretFile: string): Promise<string> {
  const url = new URL(address);
  await rm(secretFile);
  await writeFile(secretFile, decodeURIComponent(url.password));
  url.password = '';
  return url.href;
}

function localEnvironment(
  name: string,
  environment: Readonly<Record<string, string | number>>,
  place: LocalPlace,
  databaseUrl: string,
): Record<string, string> {
  const entries = Object.entries(environment).map(([variable, value]): [string, string] => {
    if (variable.endsWith('_PORT')) return [variable, String(place.portOf(name, String(value)))];
    // Here destinations are on loopback and not in a network of their own.
    if (variable === 'EGRESS_ALLOW') return [variable, '127.0.0.0/8'];
    if (variable === 'EGRESS_DENY') return [variable, ''];
    return [variable, variable === 'DATABASE_URL' ? databaseUrl : place.here(String(value), name)];
  });
  return Object.fromEntries(entries);
}
