import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { fetchNatsRelease, findChecksum, natsPlatform } from './nats-release.ts';

const tag = 'v2.15.99';
const name = `nats-server-${tag}-${natsPlatform()}`;
const never = new AbortController().signal;
let folder: string;
let server: Server;
let baseUrl: string;
let archive: Buffer;
let sums: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-release-'));
  await mkdir(join(folder, name));
  await writeFile(join(folder, name, 'nats-server'), 'the program', { mode: 0o755 });
  await promisify(execFile)('tar', ['-czf', join(folder, 'archive'), '-C', folder, name]);
  archive = await readFile(join(folder, 'archive'));
  await rm(join(folder, name), { recursive: true });
  sums = `${sha256(Buffer.from('other'))}  other.tar.gz\n${sha256(archive)}  ${name}.tar.gz\n`;
  const files = (): Record<string, string | Buffer> => ({
    [`/${tag}/${name}.tar.gz`]: archive,
    [`/${tag}/SHA256SUMS`]: sums,
  });
  server = createServer((asked, reply) => {
    const file = files()[asked.url ?? ''];
    reply.writeHead(file === undefined ? 404 : 200).end(file);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

test('nats release: is unpacked when its checksum is the pinned one', async () => {
  const release = { tag, baseUrl, checksums: { [natsPlatform()]: sha256(archive) } };
  const path = await fetchNatsRelease(release, folder, never);
  expect(await readFile(path, 'utf8')).toBe('the program');
});

test('nats release: a checksum that is not pinned is looked up in SHA256SUMS', async () => {
  const path = await fetchNatsRelease({ tag, baseUrl, checksums: {} }, folder, never);
  expect(await readFile(path, 'utf8')).toBe('the program');
});

test('nats release: an archive with another checksum is refused', async () => {
  const release = { tag, baseUrl, checksums: { [natsPlatform()]: sha256(Buffer.from('another')) } };
  await expect(fetchNatsRelease(release, folder, never)).rejects.toThrow('it was thrown away');
});

test('nats release: one that is not listed or not there is an error that says so', async () => {
  sums = '';
  await expect(fetchNatsRelease({ tag, baseUrl, checksums: {} }, folder, never)).rejects.toThrow('does not list');
  const missing = { tag: 'v0.0.0', baseUrl, checksums: {} };
  await expect(fetchNatsRelease(missing, folder, never)).rejects.toThrow('it answered 404');
});

test('nats release: can be cancelled', async () => {
  const cancelled = AbortSignal.abort(new Error('stopped by the caller'));
  await expect(fetchNatsRelease({ tag, baseUrl, checksums: {} }, folder, cancelled)).rejects.toThrow('stopped');
});

test('nats release: checksums are found by exact file name', () => {
  const hex = 'ab'.repeat(32);
  expect(findChecksum(`${hex}  a.tar.gz.sig\n${hex} *a.tar.gz\n`, 'a.tar.gz')).toBe(hex);
  expect(findChecksum(`${hex}  xa.tar.gz\n`, 'a.tar.gz')).toBeUndefined();
});

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
