import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { endOrphan, type EndStep } from '../machine/end-process.ts';
import { inheritedEnv } from '../machine/env.ts';
import { chooseFileStoreBytes, renderNatsConfig, type NatsClusterConfig } from './nats-config.ts';
import { claimFolder } from '../machine/folder-claim.ts';
import { choosePort } from '../machine/free-port.ts';
import { holdClaim, startServerProcess, type HeldServer, type ServerProcess } from '../machine/server-process.ts';
import { isThere } from '../machine/is-there.ts';
import { fitToMachine } from '../../runtime/fit-to-machine.ts';
import { readMachine } from '../../runtime/machine.ts';
import { readProcessFacts, type ProcessFacts } from '../../runtime/process-facts.ts';

/** A running nats-server with JetStream, on loopback. */
export type NatsServer = HeldServer & {
  readonly url: string;
  readonly monitorUrl: string;
  readonly port: number;
  readonly monitorPort: number;
  readonly storeDir: string;
};

export type NatsServerOptions = {
  readonly binaryPath: string;
  /** Folder of the streams and of the server's configuration, log and pid file. `stop` keeps it. */
  readonly storeDir: string;
  /** 0 or omitted for a free port. A given port that is in use is an error. */
  readonly port?: number;
  /** 0 or omitted for a free port. */
  readonly monitorPort?: number;
  readonly serverName?: string;
  readonly cluster?: NatsClusterConfig;
  /** Default 8 MiB. */
  readonly maxPayloadBytes?: number;
  /** Limit of all streams together. Default three quarters of the disk, see `chooseFileStoreBytes`. */
  readonly maxFileStoreBytes?: number;
  /**
   * GOMEMLIMIT, such as `320MiB`, or `off`. It is not a hard limit: near it the server spends more processor time to
   * free memory that it would otherwise keep. The default depends on the machine, see `fitToMachine`.
   */
  readonly memoryLimit?: string | undefined;
  /** GOMAXPROCS: how many cores the server uses at most. The default depends on the machine, see `fitToMachine`. */
  readonly cores?: number | undefined;
  /** False is faster, but a power cut may lose acknowledged messages. Default true. */
  readonly syncAlways?: boolean;
  /** Further lines of configuration, such as certificates and users. They do not change the server's `url`. */
  readonly furtherConfig?: string;
  /** Default `nats-server.log` in `storeDir`. */
  readonly logFile?: string;
};

const defaultMaxPayloadBytes = 8 * 1024 * 1024;
const readyDeadlineMs = 60_000;
const infoDeadlineMs = 1_000;
const startAttemptsMax = 3;
const stopSteps: readonly EndStep[] = [{ signal: 'SIGTERM', waitMs: 10_000 }];

/**
 * Starts nats-server on a folder and resolves once it accepts clients. First ends a server that a killed run left on
 * that folder.
 */
export async function startNatsServer(options: NatsServerOptions): Promise<NatsServer> {
  const storeDir = resolve(options.storeDir);
  await mkdir(storeDir, { recursive: true });
  const claim = await claimFolder(storeDir);
  try {
    await endOrphan(await findServerOn(storeDir), stopSteps, { folder: storeDir, isTakenOver: claim.isTakenOver });
    const { process, port, monitorPort } = await startOnPorts(storeDir, options);
    return {
      ...holdClaim(process, claim),
      url: `nats://127.0.0.1:${port}`,
      monitorUrl: `http://127.0.0.1:${monitorPort}`,
      port,
      monitorPort,
      storeDir,
    };
  } catch (error) {
    await claim.release();
    throw error;
  }
}

/** Ends the server, if any, that a killed process left on the folder, so that its ports are free again. */
export async function endLeftNatsServer(storeDir: string): Promise<void> {
  const folder = resolve(storeDir);
  if (await isThere(folder)) {
    const claim = await claimFolder(folder);
    try {
      await endOrphan(await findServerOn(folder), stopSteps, { folder, isTakenOver: claim.isTakenOver });
    } finally {
      await claim.release();
    }
  }
}

type StartedProcess = {
  readonly process: ServerProcess;
  readonly port: number;
  readonly monitorPort: number;
};

// Another program may take a free port before the server listens on it; a port that was not given is then chosen again.
async function startOnPorts(storeDir: string, options: NatsServerOptions): Promise<StartedProcess> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await choosePort(options.port, 'nats-server');
    const monitorPort = await choosePort(options.monitorPort, 'nats-server');
    try {
      return { process: await startOnce(storeDir, port, monitorPort, options), port, monitorPort };
    } catch (error) {
      const lostRace = error instanceof Error && error.message.includes('address already in use');
      if (!lostRace || attempt >= startAttemptsMax) {
        throw error;
      }
    }
  }
}

async function startOnce(
  storeDir: string,
  port: number,
  monitorPort: number,
  options: NatsServerOptions,
): Promise<ServerProcess> {
  const configFile = configFileOf(storeDir);
  const config = renderNatsConfig({
    serverName: options.serverName ?? `sluice-${port}`,
    port,
    monitorPort,
    pidFile: pidFileOf(storeDir),
    storeDir,
    maxPayloadBytes: options.maxPayloadBytes ?? defaultMaxPayloadBytes,
    maxFileStoreBytes: options.maxFileStoreBytes ?? (await chooseFileStoreBytes(storeDir)),
    syncAlways: options.syncAlways ?? true,
    cluster: options.cluster,
    furtherLines: options.furtherConfig,
  });
  await writeIfChanged(configFile, config);
  const fitted = fitToMachine(readMachine());
  const process = await startServerProcess({
    label: 'nats-server',
    command: options.binaryPath,
    args: ['--config', configFile],
    env: {
      ...inheritedEnv(),
      GOMEMLIMIT: options.memoryLimit ?? `${fitted.logMemoryMib}MiB`,
      GOMAXPROCS: String(options.cores ?? fitted.logCores),
    },
    logFile: options.logFile ?? join(storeDir, 'nats-server.log'),
    stopSteps,
  });
  // The server opens its client port last, after JetStream has recovered its streams.
  await process.whenReady(() => greetsWithJetStream(port), readyDeadlineMs);
  return process;
}

// A start on a full disk has no room for a new file, and usually needs no new file, because the text is the same.
async function writeIfChanged(file: string, text: string): Promise<void> {
  if ((await readFile(file, 'utf8').catch(() => undefined)) === text) return;
  // Written under another name and renamed, because half a configuration would lack the limits.
  const aside = `${file}.new`;
  await writeFile(aside, text, { mode: 0o600 });
  await rename(aside, file);
}

/** Whether the server accepts clients and has JetStream enabled, by its first line, `INFO {...}`. */
function greetsWithJetStream(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    let greeting = '';
    const finish = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(infoDeadlineMs, () => finish(false));
    socket.once('error', () => finish(false));
    socket.once('close', () => finish(false));
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      greeting += text;
      if (greeting.includes('\r\n')) {
        finish(greeting.startsWith('INFO ') && /"jetstream":\s*true/.test(greeting));
      }
    });
  });
}

// The process of the pid file, if its command line names the folder's configuration file.
async function findServerOn(storeDir: string): Promise<ProcessFacts | undefined> {
  const pid = await readFile(pidFileOf(storeDir), 'utf8').then(Number, () => 0);
  const facts = await readProcessFacts(pid);
  return facts?.command.join(' ').includes(configFileOf(storeDir)) === true ? facts : undefined;
}

function configFileOf(storeDir: string): string {
  return join(storeDir, 'nats-server.conf');
}

function pidFileOf(storeDir: string): string {
  return join(storeDir, 'nats-server.pid');
}
