import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NatsServer } from '../../shared/embedded/nats/nats-server.ts';
import { startTestNats } from '../../shared/testing/servers.ts';
import { readFuzzEnv } from '../../shared/testing/fuzz-env.ts';
import { doorSources } from '../testing/doors/webhook-families.ts';
import { runDoors } from '../testing/doors/run-doors.ts';
import { startGatewayProcess } from '../testing/gateway-process.ts';
import type { GatewayProcess } from '../testing/gateway-process.ts';
import { openTestLog } from '../testing/test-log.ts';
import type { TestLog } from '../testing/test-log.ts';
import { allTestSources } from '../testing/test-sources.ts';

const mebibyte = 1024 ** 2;
/** Maximum growth of the resident set after the first third of the cases, since heap and buffers vary. */
const growthBytesMax = 64 * mebibyte;

/** A case that failed in an earlier run: its number, and the fault. */
type KeptCase = { readonly case: number; readonly found: string };
const kept = JSON.parse(
  readFileSync(new URL('../testing/doors/kept-cases.json', import.meta.url), 'utf8'),
) as readonly KeptCase[];

let nats: NatsServer;
let log: TestLog;
let gateway: GatewayProcess;

beforeAll(async () => {
  nats = await startTestNats();
  log = await openTestLog(nats.url);
  await log.publishSources([...allTestSources, ...doorSources]);
  gateway = await startGatewayProcess(nats.url, {
    RATE_LIMIT_EVENTS_PER_S: '1000000',
    RATE_LIMIT_BYTES_PER_S: '1000000000',
    LOG_INGEST_BYTES_MAX: String(4_096 * mebibyte),
  });
});
afterAll(async () => {
  await gateway?.stop();
  await log?.close();
  await nats?.stop();
});

async function metric(name: string): Promise<number> {
  const line = (await gateway.metrics()).split('\n').find((text) => text.startsWith(`${name} `));
  return Number(line?.split(' ')[1] ?? Number.NaN);
}

test('request families: requests that failed in an earlier run are answered and stored as documented', async () => {
  const { failures } = await runDoors({ gateway, log, cases: kept.map((one) => one.case) });
  expect(failures).toEqual([]);
});

test('request families: mutated requests are answered and stored as documented, memory stays bounded, and no request stays open', async () => {
  const { FUZZ_CASES: count, FUZZ_SEED: seed } = readFuzzEnv(4_000);
  const resident = (): Promise<number> => metric('process_resident_memory_bytes');
  let atThird = 0;
  const { failures, answers } = await runDoors({
    gateway,
    log,
    cases: Array.from({ length: count }, (_, index) => seed * 1_000_000 + index),
    async onProgress(done) {
      if (atThird === 0 && done >= count / 3) atThird = await resident();
    },
  });
  const end = await resident();
  console.info(
    `${count} cases of seed ${seed}:`,
    Object.fromEntries([...answers].toSorted(([one], [other]) => one.localeCompare(other))),
  );
  expect(failures).toEqual([]);
  expect(end - atThird).toBeLessThan(growthBytesMax);
  await expect.poll(() => metric('sluice_gateway_requests_open')).toBe(0);
  expect((await gateway.readiness()).status).toBe(200);
}, 1_800_000);
