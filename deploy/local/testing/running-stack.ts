import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../../../shared/embedded/machine/free-port.ts';
import { compiledPath, topFolder } from '../../../shared/runtime/compiled-path.ts';
import { credentialsFile } from '../credentials.ts';
import type { Credentials } from '../credentials.ts';
import { stackTestEnv } from './env.ts';

/** A local stack, started on free ports as a user would start it. */
export type RunningStack = {
  readonly credentials: Credentials;
  readonly metrics: { readonly gateway: string; readonly controlPlane: string; readonly pipeline: string };
  /** Process id of the launcher. */
  readonly pid: number;
  /** All output of the launcher so far. */
  output(): string;
  /** The current process id of a service or of nats-server. */
  pidOf(name: string): Promise<number>;
  /** Sends SIGTERM to the launcher and waits for its exit. */
  stop(): Promise<{ readonly code: number | null }>;
  /** Sends SIGKILL to the launcher alone: its services keep running. */
  kill(): Promise<void>;
};

export type StackPorts = Readonly<Record<string, string>>;

const readyDeadlineMs = 110_000;

/** Chooses free ports for a stack, which a restart of it can use again. */
export async function chooseStackPorts(): Promise<StackPorts> {
  const names = [
    'GATEWAY_PORT',
    'GATEWAY_METRICS_PORT',
    'CONTROL_PLANE_PORT',
    'CONTROL_PLANE_METRICS_PORT',
    'PIPELINE_METRICS_PORT',
    'SINK_PORT',
    'NATS_PORT',
    'NATS_MONITOR_PORT',
    'POSTGRES_PORT',
  ];
  const ports = new Set<number>();
  while (ports.size < names.length) ports.add(await findFreePort());
  return Object.fromEntries([...ports].map((port, i) => [names[i] ?? '', String(port)]));
}

/** Runs the launcher on a folder and waits for `sluice ready`. */
export async function runStack(
  folder: string,
  ports: StackPorts,
  own: Readonly<Record<string, string>> = {},
): Promise<RunningStack> {
  const { child, output, exited } = launch(folder, ports, own);
  await waitFor(output, 'sluice ready', exited, readyDeadlineMs);
  const credentials = JSON.parse(await readFile(credentialsFile(folder), 'utf8')) as Credentials;
  const at = (name: string): string => `http://127.0.0.1:${ports[name] ?? ''}`;
  return {
    credentials,
    metrics: {
      gateway: at('GATEWAY_METRICS_PORT'),
      controlPlane: at('CONTROL_PLANE_METRICS_PORT'),
      pipeline: at('PIPELINE_METRICS_PORT'),
    },
    pid: child.pid ?? 0,
    output,
    pidOf: (name) => readPid(folder, name),
    async stop() {
      child.kill('SIGTERM');
      return { code: await exited };
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Runs a launcher that is expected to fail. Resolves with its exit code and output. */
export async function runFailingStack(
  folder: string,
  ports: StackPorts,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const { output, exited } = launch(folder, ports, {});
  return { code: await exited, output: output() };
}

type Launched = { readonly child: ChildProcess; output(): string; readonly exited: Promise<number | null> };

const entry = compiledPath(new URL('../main.ts', import.meta.url));

function launch(folder: string, ports: StackPorts, own: Readonly<Record<string, string>>): Launched {
  const child = spawn(process.execPath, ['--enable-source-maps', entry], {
    cwd: fileURLToPath(topFolder),
    env: stackTestEnv({ ...ports, SLUICE_DIR: folder, ...own }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
    });
  }
  const exited = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  return { child, output: () => text, exited };
}

async function waitFor(
  output: () => string,
  text: string,
  exited: Promise<number | null>,
  deadlineMs: number,
): Promise<void> {
  let ended = false;
  void exited.then(() => {
    ended = true;
  });
  const deadline = performance.now() + deadlineMs;
  while (!output().includes(text)) {
    if (ended || performance.now() > deadline) throw new Error(`the stack did not say "${text}":\n${output()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function readPid(folder: string, name: string): Promise<number> {
  if (name === 'nats-server') return Number(await readFile(join(folder, 'nats', 'nats-server.pid'), 'utf8'));
  const record = JSON.parse(await readFile(join(folder, 'services.json'), 'utf8')) as Record<string, { pid: number }>;
  const pid = record[name]?.pid;
  if (pid === undefined) throw new Error(`no service ${name} is on record`);
  return pid;
}
