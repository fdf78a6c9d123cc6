import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defaultEmbeddedCacheDir } from '../../shared/embedded/machine/env.ts';
import { dashboards, queriesOf } from '../grafana/dashboards.ts';
import { makeStackFolder } from '../local/testing/make-stack-folder.ts';
import { chooseStackPorts, runStack } from '../local/testing/running-stack.ts';
import type { RunningStack } from '../local/testing/running-stack.ts';
import { createStackClient } from '../local/testing/stack-client.ts';
import type { StackClient } from '../local/testing/stack-client.ts';
import { startPrometheus } from '../testing/prometheus-server.ts';
import type { PrometheusServer } from '../testing/prometheus-server.ts';
import { readRules } from './expressions.ts';
import { ProgramNotFoundError, findPrometheusProgram } from './find-program.ts';
import type { PrometheusProgram } from './find-program.ts';

const settle = { timeout: 90_000, interval: 500 };
const say = (line: string): void => void process.stderr.write(`${line}\n`);

let folder: string;
let stack: RunningStack;
let client: StackClient;
let failing: string;
let prometheus: PrometheusServer | undefined;
let promtool: string | undefined;
let sending: Promise<void>;
const stopSending = new AbortController();

/** Path of the program; undefined, with a message, if this machine does not have it and cannot fetch it. */
async function find(name: PrometheusProgram): Promise<string | undefined> {
  try {
    return await findPrometheusProgram(name, { cacheDir: defaultEmbeddedCacheDir(), onProgress: say });
  } catch (error) {
    if (!(error instanceof ProgramNotFoundError)) throw error;
    say(`SKIPPED: rules and dashboards were not tried on a real Prometheus: ${error.message}`);
    return undefined;
  }
}

/** Sends a few requests with every kind of result: stored, invalid, to destinations that deliver and that fail. */
async function send(): Promise<void> {
  for (let i = 0; !stopSending.signal.aborted; i += 1) {
    const event = { event: 'Viewed', distinctId: `view-${i}`, userId: `u-${i % 20}` };
    await client.track(i % 10 === 9 ? { ...event, event: '' } : event).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

beforeAll(async () => {
  folder = await makeStackFolder();
  const ports = await chooseStackPorts();
  const own = { RETENTION_EVERY_MS: '1000' };
  const program = await find('prometheus');
  promtool = await find('promtool');
  stack = await runStack(folder, ports, own);
  client = createStackClient(stack.credentials);
  const { id } = await client.api('POST', 'destinations', {
    name: 'failing',
    type: 'HTTPDestination',
    settings: { httpDestinationUrl: `${stack.credentials.sink}/failing` },
  });
  failing = String(id);
  await client.setSink({ path: '/failing', status: 503 });
  await client.publish('adds a destination that fails');
  sending = send();
  const at = (url: string): string => new URL(url).host;
  if (program === undefined) return;
  prometheus = await startPrometheus(program, {
    'sluice-gateway': at(stack.metrics.gateway),
    'sluice-control-plane': at(stack.metrics.controlPlane),
    'sluice-pipeline': at(stack.metrics.pipeline),
  });
}, 240_000);

afterAll(async () => {
  stopSending.abort();
  await sending;
  await prometheus?.stop();
  await stack.stop();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

/** A dashboard's expression with the variables replaced, as Grafana sends it. */
const asked = (expr: string): string => expr.replaceAll('$__rate_interval', '10s').replaceAll('$destination', '.*');

/** The queries that have no data now. */
async function withoutData(server: PrometheusServer, exprs: Iterable<string>): Promise<string[]> {
  const empty: string[] = [];
  for (const expr of exprs) if ((await server.query(asked(expr))).length === 0) empty.push(expr);
  return empty;
}

test('dashboards: every query has data', async ({ skip }) => {
  const server = prometheus ?? skip('there is no Prometheus');
  let exprs = dashboards.flatMap(queriesOf).map(({ expr }) => expr);
  await expect.poll(async () => (exprs = await withoutData(server, exprs)), settle).toEqual([]);
}, 120_000);

test('recording rules: every rule records data', async ({ skip }) => {
  const server = prometheus ?? skip('there is no Prometheus');
  let records = (await readRules('recording.yml')).map(({ record }) => record ?? '');
  await expect.poll(async () => (records = await withoutData(server, records)), settle).toEqual([]);
}, 120_000);

test('alerts: every metric in an alert has data, so that silence means that all is well', async ({ skip }) => {
  const server = prometheus ?? skip('there is no Prometheus');
  const alerts = await readRules('alerts.yml');
  // An alert's whole expression has no result while all is well, so the metrics in it are queried one by one.
  const selector = /(?:[a-z_]+:)?(?:sluice[a-zA-Z0-9_:]*|\bup)(?:\{[^}]*\})?/g;
  const withoutNames = (expr: string): string => expr.replaceAll(/group_left \(\)|(?:on|by) \([^)]*\)/g, '');
  let selectors = [...new Set(alerts.flatMap(({ expr }) => withoutNames(expr).match(selector) ?? []))];
  expect(selectors.length).toBeGreaterThan(alerts.length);
  await expect.poll(async () => (selectors = await withoutData(server, selectors)), settle).toEqual([]);
  expect(await server.ruleProblems()).toEqual([]);
}, 120_000);

test('destinations: the metrics tell a failing destination from a delivering one', async ({ skip }) => {
  const server = prometheus ?? skip('there is no Prometheus');
  const attempts = async (destination: string, outcome: string): Promise<number> => {
    const series = `sluice_dispatcher_attempts_total{destination_id="${destination}",outcome="${outcome}"}`;
    return (await server.query(series))[0]?.value ?? 0;
  };
  await expect.poll(() => attempts(failing, 'unavailable'), settle).toBeGreaterThan(0);
  await expect.poll(() => attempts(stack.credentials.destinationId, 'delivered'), settle).toBeGreaterThan(0);
  expect(await attempts(failing, 'delivered')).toBe(0);
  expect(await attempts(stack.credentials.destinationId, 'unavailable')).toBe(0);
  const waiting = `sluice_destination_retries_waiting_frames{destination_id="${failing}"}`;
  await expect.poll(async () => (await server.query(waiting))[0]?.value, settle).toBeGreaterThan(0);
}, 120_000);

test.each(['gateway', 'controlPlane', 'pipeline'] as const)(
  'metrics page of the %s: promtool has nothing to say about it',
  async (service) => {
    const page = await (await fetch(`${stack.metrics[service]}/metrics`)).text();
    expect(page).toContain('sluice_build_info');
    if (promtool !== undefined) expect(await checkMetrics(promtool, page)).toBe('');
  },
  60_000,
);

/** The problems that promtool finds on a metrics page; '' if there are none. */
function checkMetrics(program: string, page: string): Promise<string> {
  return new Promise((resolve) => {
    const child = execFile(program, ['check', 'metrics'], { timeout: 30_000 }, (error, stdout, stderr) =>
      resolve(`${stdout}${stderr}${error === null ? '' : String(error.code)}`.trim()),
    );
    child.stdin?.end(page);
  });
}
