import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { access, chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { findNatsServer, type FindNatsServerOptions } from './nats-binary.ts';
import { natsPlatform } from './nats-release.ts';

const tag = 'v2.15.99';
let folder: string;
let mirror: Server;
let downloads: number;
let options: FindNatsServerOptions & { release: NonNullable<FindNatsServerOptions['release']> };

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-binary-'));
  const archive = await packRelease('2.15.99');
  downloads = 0;
  mirror = createServer((_asked, reply) => {
    downloads += 1;
    reply.end(archive);
  });
  mirror.listen(0, '127.0.0.1');
  await once(mirror, 'listening');
  const checksum = createHash('sha256').update(archive).digest('hex');
  options = {
    cacheDir: join(folder, 'cache'),
    onProgress: () => undefined,
    searchPath: [join(folder, 'empty')],
    release: {
      tag,
      baseUrl: `http://127.0.0.1:${(mirror.address() as AddressInfo).port}`,
      checksums: { [natsPlatform()]: checksum },
    },
  };
});

afterEach(async () => {
  vi.unstubAllEnvs();
  mirror.closeAllConnections();
  mirror.close();
  await rm(folder, { recursive: true, force: true });
});

test('nats binary: a program on PATH is used if its version is new enough', async () => {
  await writeProgram(join(folder, 'old', 'nats-server'), '2.12.15');
  const path = await writeProgram(join(folder, 'new', 'nats-server'), '2.16.1');
  const searchPath = ['', join(folder, 'old'), join(folder, 'new')];
  expect(await findNatsServer({ ...options, searchPath })).toEqual({ path, version: '2.16.1' });
  expect(downloads).toBe(0);
});

test('nats binary: the program that SLUICE_NATS_SERVER names is used, and is an error if it is too old', async () => {
  vi.stubEnv('SLUICE_NATS_SERVER', await writeProgram(join(folder, 'given'), '2.15.1'));
  expect((await findNatsServer(options)).version).toBe('2.15.1');
  vi.stubEnv('SLUICE_NATS_SERVER', await writeProgram(join(folder, 'given-old'), '2.12.15'));
  await expect(findNatsServer(options)).rejects.toThrow('is version 2.12.15, older than 2.15.1');
});

test('nats binary: a release is fetched once and then found in the cache', async () => {
  const progress: string[] = [];
  const fetched = await findNatsServer({ ...options, onProgress: (line) => progress.push(line) });
  expect(fetched.version).toBe('2.15.99');
  expect(progress).toEqual([`fetching nats-server ${tag} (a few megabytes, once)`]);
  expect(await findNatsServer(options)).toEqual(fetched);
  expect(downloads).toBe(1);
});

test('nats binary: a cached program that was changed is not run, and is fetched again', async () => {
  const { path } = await findNatsServer(options);
  const ran = join(folder, 'ran');
  await writeFile(path, `#!/bin/sh\ntouch ${ran}\necho 'nats-server: v2.15.99'\n`);
  expect((await findNatsServer(options)).version).toBe('2.15.99');
  expect(downloads).toBe(2);
  await expect(access(ran)).rejects.toThrow('ENOENT');
});

test('nats binary: a cached program without a recorded checksum is not run', async () => {
  await writeProgram(join(options.cacheDir, 'nats-server'), '2.15.99');
  const unrecorded = join(options.cacheDir, `nats-server-${tag}-${process.platform}-${process.arch}`);
  await rename(join(options.cacheDir, 'nats-server'), unrecorded);
  expect((await findNatsServer(options)).path).not.toBe(unrecorded);
  expect(downloads).toBe(1);
});

test('nats binary: concurrent downloads leave one complete program and no other file', async () => {
  const found = await Promise.all(Array.from({ length: 6 }, () => findNatsServer(options)));
  expect(new Set(found.map(({ path }) => path)).size).toBe(1);
  expect(await readdir(options.cacheDir)).toHaveLength(1);
});

test('nats binary: the error lists each way to find a program, why it failed, and what to do', async () => {
  await writeProgram(join(folder, 'old', 'nats-server'), '2.12.15');
  // This PATH has no apt-get, so the last attempt fails as well.
  vi.stubEnv('PATH', join(folder, 'empty'));
  const release = { ...options.release, checksums: { [natsPlatform()]: '0'.repeat(64) } };
  const failing = findNatsServer({ ...options, release, searchPath: [join(folder, 'old')] });
  await expect(failing).rejects.toThrow(
    /PATH: .* is version 2\.12\.15.*the cache: there is no .*the official release: .*discarded.*Debian's package: .*Set NATS_URL/s,
  );
  await expect(failing).rejects.toMatchObject({ code: 'binary_not_found' });
});

test('nats binary: can be cancelled', async () => {
  const signal = AbortSignal.abort(new Error('stopped by the caller'));
  await expect(findNatsServer({ ...options, signal })).rejects.toThrow('stopped by the caller');
});

/** Writes a program that answers `--version` like nats-server, and returns its path. */
async function writeProgram(path: string, version: string): Promise<string> {
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, `#!/bin/sh\necho 'nats-server: v${version}'\n`);
  await chmod(path, 0o755);
  return path;
}

async function packRelease(version: string): Promise<Buffer> {
  const name = `nats-server-${tag}-${natsPlatform()}`;
  await writeProgram(join(folder, 'release', name, 'nats-server'), version);
  await promisify(execFile)('tar', ['-czf', join(folder, 'archive'), '-C', join(folder, 'release'), name]);
  return readFile(join(folder, 'archive'));
}
