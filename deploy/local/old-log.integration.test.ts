import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GreetingServer, startGreetingServer } from '../../shared/testing/greeting-server.ts';
import { createTestDatabase } from '../../shared/testing/servers.ts';
import type { TestDatabase } from '../../shared/testing/servers.ts';
import { inheritedEnv } from './env.ts';
import { startService } from './service-process.ts';

let nats: GreetingServer;
let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  nats = await startGreetingServer('2.14.5');
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'sluice-old-log-'));
});

afterAll(async () => {
  await nats?.close();
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

test.each(['gateway', 'pipeline', 'control-plane'])(
  '%s: exits with 1 and a message of one sentence if nats-server is too old',
  async (name) => {
    const problems: string[] = [];
    const env = {
      ...inheritedEnv(),
      NATS_URL: nats.url,
      DATABASE_URL: database.url,
      SECRETS_KEY: randomBytes(32).toString('base64'),
      LOG_LEVEL: 'warn',
    };
    const spec = { name, entry: `${name}/main`, env, logFile: join(folder, `${name}.log`) };
    const service = startService(spec, (line) => problems.push(line));
    expect(await service.exited).toEqual({ code: 1, signal: null });
    await expect
      .poll(() => problems.join('\n'))
      .toMatch(
        /start failed: connecting to NATS at NATS_URL: nats-server 2\.14\.5 is older than 2\.15\.1, .*power fails.*run 2\.15\.1 or newer/,
      );
  },
);
