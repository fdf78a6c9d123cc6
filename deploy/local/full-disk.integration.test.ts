import { readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mountSmallDisk } from '../../shared/testing/small-disk.ts';
import type { SmallDisk } from '../../shared/testing/small-disk.ts';
import { examine } from '../cli/doctor/examine.ts';
import { makeStackFolder } from './testing/make-stack-folder.ts';
import { chooseStackPorts, runStack } from './testing/running-stack.ts';
import type { RunningStack, StackPorts } from './testing/running-stack.ts';
import { createStackClient } from './testing/stack-client.ts';
import type { StackClient } from './testing/stack-client.ts';

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const disk = await mountSmallDisk(192).catch((error: unknown): undefined => {
  say(`SKIPPED: nothing was tried on a full disk: ${error instanceof Error ? error.message : String(error)}`);
});
const settle = { timeout: 100_000, interval: 100 };
const visitors = 10;

let folder: string;
let ports: StackPorts;
let stack: RunningStack;
let client: StackClient;
const taken = new Set<string>();
let sent = 0;

/** Sends an event. Returns the status; 0 if there was no answer. */
async function track(): Promise<number> {
  sent += 1;
  const id = `event-${sent}`;
  const event = {
    event: 'Sent',
    distinctId: id,
    userId: `u-${sent % visitors}`,
    properties: { text: 'x'.repeat(200) },
  };
  const status = await client.track(event).catch(() => 0);
  if (status === 200) taken.add(id);
  return status;
}

const keysAt = async (path: string): Promise<readonly string[]> =>
  (await client.sinkRequests(path)).map((request) => request.headers['idempotency-key'] ?? '');
const arrivedAt = async (path: string): Promise<number> => new Set(await keysAt(path)).size;
const readiness = async (): Promise<string> => {
  const answer = await fetch(`${stack.metrics.gateway}/readyz`).catch(() => undefined);
  return answer === undefined ? '' : `${answer.status} ${await answer.text()}`;
};

beforeAll(async () => {
  if (disk === undefined) return;
  folder = await makeStackFolder();
  await symlink(disk.folder, join(folder, 'nats'));
  ports = await chooseStackPorts();
  const mebibyte = String(1024 ** 2);
  stack = await runStack(folder, ports, {
    // More than the disk's size, so that the disk fills up before the limit applies.
    NATS_STORE_BYTES_MAX: String(2 * 1024 ** 3),
    LOG_INGEST_BYTES_MAX: String(64 * 1024 ** 2),
    LOG_EVENTS_BYTES_MAX: String(64 * 1024 ** 2),
    LOG_RETRY_BYTES_MAX: mebibyte,
    LOG_DEAD_LETTERS_BYTES_MAX: mebibyte,
    LOG_DEDUPLICATION_BYTES_MAX: mebibyte,
    REQUEST_DEADLINE_MS: '2500',
  });
  client = createStackClient(stack.credentials);
}, 240_000);

afterAll(async () => {
  await stack?.stop();
  await disk?.close();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
}, 60_000);

test.skipIf(disk === undefined)(
  'full disk: nats-server killed on it takes events again by itself once there is room, and nothing is sent again',
  async () => {
    const full = disk as SmallDisk;
    await client.api('POST', 'destinations', {
      name: 'second',
      type: 'HTTPDestination',
      settings: { httpDestinationUrl: `${stack.credentials.sink}/second` },
    });
    await client.publish('adds a second destination');
    for (let i = 0; i < 100; i += 1) expect(await track()).toBe(200);
    await expect.poll(() => arrivedAt('/demo'), settle).toBe(taken.size);
    await expect.poll(() => arrivedAt('/second'), settle).toBe(taken.size);

    const stopFilling = keepFull(full);
    try {
      await expect.poll(() => track(), settle).not.toBe(200);
      // Readiness names the reason also after the server was killed and has started again.
      const killed = await stack.pidOf('nats-server');
      process.kill(killed, 'SIGKILL');
      await expect.poll(() => stack.pidOf('nats-server'), settle).not.toBe(killed);
      expect(await track()).not.toBe(200);
      await expect.poll(readiness, settle).toMatch(/^503 [^]*log[^]*no space left on device/);
      // Readiness may still show what the server reported before the kill. The doctor asks the restarted server, which
      // reports a fault only after its first failed write.
      await expect
        .poll(
          async () => (await examine(doctorEnv(), 20_000)).find(({ about }) => about.startsWith('health of')),
          settle,
        )
        .toMatchObject({ level: 'fail', advice: expect.stringContaining('make room') as string });
      expect(stack.output()).toMatch(/nats-server cannot write any more \(.*no space left on device/);
    } finally {
      await stopFilling();
    }

    await full.makeRoom();
    const startedMs = performance.now();
    const before = taken.size;
    // Requests overlap: a request that waits for its answer must not delay the next.
    const sending = setInterval(() => void track(), 250);
    await expect.poll(() => taken.size, settle).toBeGreaterThan(before);
    clearInterval(sending);
    say(`full disk: acknowledged ${Math.round(performance.now() - startedMs)} ms after there was room`);
    for (let i = 0; i < 20; i += 1) await expect.poll(() => track(), settle).toBe(200);
    for (const path of ['/demo', '/second']) {
      await expect.poll(async () => missingAt(path), settle).toEqual([]);
      // Only events in flight at the kill may arrive twice, with the same key.
      const keys = await keysAt(path);
      expect(keys.length - new Set(keys).size).toBeLessThan(taken.size / 2);
    }
    expect(await readFile(join(folder, 'nats/nats-server.log'), 'utf8')).toContain('no space left on device');
  },
  400_000,
);

async function missingAt(path: string): Promise<readonly string[]> {
  const arrived = new Set(await keysAt(path));
  return [...taken].filter((id) => !arrived.has(id));
}

/** Keeps the disk full until the returned function is called, also when files are removed or truncated. */
function keepFull(full: SmallDisk): () => Promise<void> {
  const over = new AbortController();
  const filling = (async () => {
    while (!over.signal.aborted) {
      await full.fill();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  return async () => {
    over.abort();
    await filling;
  };
}

const doctorEnv = (): Record<string, string> => ({
  SLUICE_DIR: folder,
  NATS_URL: `nats://127.0.0.1:${ports['NATS_PORT']}`,
  NATS_MONITOR_URL: `http://127.0.0.1:${ports['NATS_MONITOR_PORT']}`,
});
