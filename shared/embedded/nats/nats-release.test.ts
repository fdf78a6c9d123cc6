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

import { fetchNatsRelease, natsPlatform } from './nats-release.ts';

const tag = 'v2.15.99';
const name = `nats-server-${tag}-${natsPlatform()}`;
const never = new AbortController().signal;
let folder: string;
let server: Server;
let baseUrl: string;
let archive: Buffer;
let asked: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-release-'));
  await mkdir(join(folder, name));
  await writeFile(join(folder, name, 'nats-server'), 'the program', { mode: 0o755 });
  await promisify(execFile)('tar', ['-czf', join(folder, 'archive'), '-C', folder, name]);
  archive = await readFile(join(folder, 'archive'));
  await rm(join(folder, name), { recursive: true });
  asked = [];
  server = createServer(({ url = '' }, reply) => {
    asked.push(url);
    const isThere = url === `/${tag}/${name}.tar.gz`;
    reply.writeHead(isThere ? 200 : 404).end(isThere ? archive : undefined);
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

test('nats release: an archive with the pinned checksum is unpacked', async () => {
  const release = { tag, baseUrl, checksums: { [natsPlatform()]: sha256(archive) } };
  const path = await fetchNatsRelease(release, folder, never);
  expect(await readFile(path, 'utf8')).toBe('the program');
});

test('nats release: without a checksum nothing is downloaded, and the error says how to give one', async () => {
  const refused = fetchNatsRelease({ tag, baseUrl, checksums: {} }, folder, never);
  await expect(refused).rejects.toThrow(`no SHA-256 of ${name}.tar.gz is pinned: set SLUICE_NATS_SERVER_SHA256`);
  expect(asked).toEqual([]);
});

test('nats release: a checksum that the operator gives is enough, and wins over the pinned one', async () => {
  const release = { tag, baseUrl, checksums: { [natsPlatform()]: sha256(Buffer.from('another')) } };
  const path = await fetchNatsRelease(release, folder, never, sha256(archive).toUpperCase());
  expect(await readFile(path, 'utf8')).toBe('the program');
  const wrong = fetchNatsRelease({ ...release, checksums: {} }, folder, never, sha256(Buffer.from('another')));
  await expect(wrong).rejects.toThrow('it was discarded');
});

test('nats release: an archive with another checksum is refused', async () => {
  const release = { tag, baseUrl, checksums: { [natsPlatform()]: sha256(Buffer.from('another')) } };
  await expect(fetchNatsRelease(release, folder, never)).rejects.toThrow('it was discarded');
});

test('nats release: a missing release is an error that names the status', async () => {
  const missing = { tag: 'v0.0.0', baseUrl, checksums: { [natsPlatform()]: sha256(archive) } };
  await expect(fetchNatsRelease(missing, folder, never)).rejects.toThrow('it answered 404');
});

test('nats release: can be cancelled', async () => {
  const cancelled = AbortSignal.abort(new Error('stopped by the caller'));
  await expect(
    fetchNatsRelease({ tag, baseUrl, checksums: { [natsPlatform()]: sha256(archive) } }, folder, cancelled),
  ).rejects.toThrow('stopped');
});

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
