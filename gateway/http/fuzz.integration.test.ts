import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NatsServer } from '../../shared/embedded/nats/nats-server.ts';
import { startTestNats } from '../../shared/testing/servers.ts';
import { readFuzzEnv } from '../../shared/testing/fuzz-env.ts';
import { runFuzz } from '../testing/fuzz/run-fuzz.ts';
import { startGatewayProcess } from '../testing/gateway-process.ts';
import type { GatewayProcess } from '../testing/gateway-process.ts';
import { openTestLog } from '../testing/test-log.ts';
import type { TestLog } from '../testing/test-log.ts';
import { allTestSources, testSources } from '../testing/test-sources.ts';

const mebibyte = 1024 ** 2;
/** Maximum growth of the resident set after the first third of the cases, since heap and buffers vary. */
const growthBytesMax = 48 * mebibyte;
const allowed: ReadonlySet<number | 'none'> = new Set(['none', 200, 207, 302, 400, 401, 404, 405, 413, 431, 503, 505]);

let nats: NatsServer;
let log: TestLog;
let gateway: GatewayProcess;

beforeAll(async () => {
  nats = await startTestNats();
  log = await openTestLog(nats.url);
  await log.publishSources(allTestSources);
  const logBytesMax = String(4_096 * mebibyte);
  gateway = await startGatewayProcess(nats.url, {
    RATE_LIMIT_EVENTS_PER_S: '1000000',
    LOG_INGEST_BYTES_MAX: logBytesMax,
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

test('fuzz: a hostile request gets a fitting answer or a closed connection; nothing crashes, stays open or grows', async () => {
  const { FUZZ_CASES: cases, FUZZ_SEED: seed } = readFuzzEnv(4_000);
  const resident = (): Promise<number> => metric('process_resident_memory_bytes');
  let atThird = 0;
  const answers = await runFuzz({
    gateway,
    token: testSources.server.token,
    cases,
    seed,
    async onProgress(done) {
      if (atThird === 0 && done >= cases / 3) atThird = await resident();
    },
  });
  const end = await resident();
  const mebibytes = [atThird, end].map((bytes) => Math.round(bytes / mebibyte)).join(', then ');
  console.info(`${cases} cases of seed ${seed}:`, Object.fromEntries(answers), `${mebibytes} MiB resident`);
  expect([...answers].filter(([status]) => !allowed.has(status))).toEqual([]);
  expect(answers.get(200)).toBeGreaterThan(cases / 50);
  expect(end - atThird).toBeLessThan(growthBytesMax);
  await expect.poll(() => metric('sluice_gateway_requests_open')).toBe(0);
  expect((await gateway.readiness()).status).toBe(200);
}, 1_800_000);
