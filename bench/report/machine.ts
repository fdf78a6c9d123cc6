import { open, readFile, rm } from 'node:fs/promises';
import { arch, cpus, platform, release, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';

export type Machine = {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly os: string;
  readonly node: string;
  readonly packages: Readonly<Record<string, string>>;
  readonly disk: DiskSync;
};

/** How long the disk takes to make 4 KiB durable, in ms. */
export type DiskSync = { readonly p50: number; readonly p99: number; readonly samples: number };

const measured = ['nats', 'uWebSockets.js', 'uWebSockets.js-compat', 'fastify', 'undici', 'typebox', 'piscina', 'pg'];

/** The machine a result was measured on: a figure without it says nothing. */
export async function describeMachine(): Promise<Machine> {
  const processors = cpus();
  return {
    cpu: processors[0]?.model ?? 'unknown',
    cores: processors.length,
    memoryGiB: Math.round(totalmem() / 1024 ** 3),
    os: `${platform()} ${release()} ${arch()}`,
    node: process.version,
    packages: await readVersions(),
    disk: await measureSync(),
  };
}

async function readVersions(): Promise<Record<string, string>> {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  const { dependencies } = JSON.parse(text) as { readonly dependencies: Readonly<Record<string, string>> };
  return Object.fromEntries(measured.map((name) => [name, dependencies[name] ?? 'none']));
}

async function measureSync(samples = 200): Promise<DiskSync> {
  const path = join(tmpdir(), `sluice-bench-sync-${process.pid}`);
  const file = await open(path, 'w');
  const block = Buffer.alloc(4096, 1);
  const tookMs: number[] = [];
  try {
    for (let i = 0; i < samples; i += 1) {
      const startedMs = performance.now();
      await file.write(block, 0, block.length, i * block.length);
      await file.datasync();
      tookMs.push(performance.now() - startedMs);
    }
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
  const sorted = tookMs.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), samples };
}
