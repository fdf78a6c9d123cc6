import { chmod, copyFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { defaultEmbeddedCacheDir } from '../embedded/machine/env.ts';
import { fetchDebianPackages } from '../embedded/machine/debian-package.ts';
import { isThere } from '../embedded/machine/is-there.ts';
import { parseNatsVersion } from '../embedded/nats/nats-binary.ts';
import { runCommand } from '../embedded/machine/run-command.ts';

export type OlderNatsServer = {
  readonly path: string;
  readonly version: string;
};

/** The Debian suite with nats-server 2.10, an earlier version whose logs an upgrade may meet. */
const suite = 'trixie';
const fetchDeadlineMs = 180_000;
const versionTimeoutMs = 10_000;

/** nats-server 2.10, to create data folders for tests of an upgrade. Throws if it cannot be fetched. */
export async function fetchOlderNatsServer(): Promise<OlderNatsServer> {
  const cached = join(defaultEmbeddedCacheDir(), `nats-server-${suite}-${process.platform}-${process.arch}`);
  if (!(await isThere(cached))) await fetchInto(cached);
  const { stdout } = await runCommand(cached, ['--version'], { timeoutMs: versionTimeoutMs });
  return { path: cached, version: parseNatsVersion(stdout) ?? '' };
}

async function fetchInto(cached: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-older-nats-'));
  const aside = `${cached}.${process.pid}`;
  try {
    const contents = await fetchDebianPackages(['nats-server'], folder, AbortSignal.timeout(fetchDeadlineMs), suite);
    await mkdir(dirname(cached), { recursive: true });
    await copyFile(join(contents, 'usr', 'sbin', 'nats-server'), aside);
    await chmod(aside, 0o755);
    await rename(aside, cached);
  } finally {
    await rm(aside, { force: true });
    await rm(folder, { recursive: true, force: true });
  }
}
