import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { compiledPath, topFolder } from '../../shared/runtime/compiled-path.ts';
import { mountSmallDisk } from '../../shared/testing/small-disk.ts';
import type { SmallDisk } from '../../shared/testing/small-disk.ts';
import { openLog, readProblem } from './service-process.ts';

const disk = await mountSmallDisk(1).catch((error: unknown): undefined => {
  process.stderr.write(`SKIPPED: no log was kept on a full disk: ${String(error)}\n`);
});
afterAll(() => disk?.close());

test.each([
  ['{"level":30,"msg":"gateway listening","port":8080}', undefined],
  [
    '{"level":40,"time":"t","component":"pipeline","msg":"breaker opened","destinationId":"d1"}',
    'breaker opened {"destinationId":"d1"}',
  ],
  ['{"level":50,"msg":"start failed","err":{"message":"connecting to NATS"}}', 'start failed: connecting to NATS'],
  ['Error: something a library printed', 'Error: something a library printed'],
  ['{ not json', '{ not json'],
  ['', undefined],
])('service log: %s shows as %s', (line, shown) => {
  expect(readProblem(line)).toBe(shown);
});

test.skipIf(disk === undefined)('service log: only the lines that find its disk full are lost', async () => {
  const full = disk as SmallDisk;
  const file = join(full.folder, 'service.log');
  const log = openLog(file);
  await full.fill();
  log.write('lost');
  await full.makeRoom();
  log.write('kept');
  log.close();
  expect(await readFile(file, 'utf8')).toBe('kept\n');
});

test.each(['SIGTERM', 'disconnect'])('service: ends on %s, even if the reader of its log has ended', async (by) => {
  const service = fork(compiledPath(new URL('deploy/local/sink/main.ts', topFolder)), [], {
    env: { ...process.env, SINK_PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const ended = once(service, 'exit');
  try {
    await expect.poll(() => String(service.stdout?.read() ?? '')).toContain('sink listening');
    service.stdout?.destroy();
    if (by === 'SIGTERM') service.kill('SIGTERM');
    else service.disconnect();
    expect(await ended).toEqual([0, null]);
  } finally {
    service.kill('SIGKILL');
  }
});
