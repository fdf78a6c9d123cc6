import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { readFile, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cannotStartExitCode } from '../../shared/runtime/cannot-start.ts';
import { compiledPath, topFolder } from '../../shared/runtime/compiled-path.ts';
import { listeningSockets } from './testing/listening-sockets.ts';
import { makeStackFolder } from './testing/make-stack-folder.ts';
import { chooseStackPorts, runFailingStack, runStack } from './testing/running-stack.ts';
import type { RunningStack, StackPorts } from './testing/running-stack.ts';
import { createStackClient } from './testing/stack-client.ts';
import type { StackClient } from './testing/stack-client.ts';

const settle = { timeout: 45_000, interval: 100 };

let folder: string;
let ports: StackPorts;
let stack: RunningStack;
let client: StackClient;

const keysAt = async (path: string): Promise<Set<string>> =>
  new Set((await client.sinkRequests(path)).map((request) => request.headers['idempotency-key'] ?? ''));

beforeAll(async () => {
  folder = await makeStackFolder();
  ports = await chooseStackPorts();
  stack = await runStack(folder, ports);
  client = createStackClient(stack.credentials);
}, 240_000);

afterAll(async () => {
  await stack.stop();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

test('stack: credentials name everything a user needs, and only the owner may read them', async () => {
  expect(Object.keys(stack.credentials).toSorted()).toEqual(
    'apiKey controlPlane destinationId gateway sink sourceId sourceToken testToken webToken'.split(' '),
  );
  expect(stack.credentials.gateway).not.toMatch(/\/$/);
  expect((await stat(join(folder, 'credentials.json'))).mode & 0o077).toBe(0);
});

test('stack: each of its processes listens only on loopback', async () => {
  const sockets = await listeningSockets(stack.pid);
  expect(sockets.filter(({ isLoopback }) => !isLoopback)).toEqual([]);
  const found = new Set(sockets.map(({ port }) => String(port)));
  for (const [name, port] of Object.entries(ports)) expect([name, found.has(port)]).toEqual([name, true]);
});

test('stack: its destinations reach its sink, and nothing else on this machine', async () => {
  for (const [name, port] of Object.entries(ports)) {
    for (const host of ['127.0.0.1', '127.0.0.2', 'localhost', '[::1]', '[::ffff:127.0.0.1]']) {
      const destination = await client.api('POST', 'destinations', {
        name: `${name} ${host}`,
        type: 'HTTPDestination',
        settings: { httpDestinationUrl: `http://${host}:${port}/healthz` },
      });
      const id = String(destination['id']);
      const { answer, outcome } = await client.api('POST', `destinations/${id}/test`, {});
      const isSink = name === 'SINK_PORT' && (host === '127.0.0.1' || host === '[::ffff:127.0.0.1]');
      // `localhost` may mean an IPv4 or an IPv6 address, depending on the machine.
      if (name === 'SINK_PORT' && host === 'localhost') continue;
      expect([name, host, outcome, answer === null]).toEqual([name, host, isSink ? 'delivered' : 'reject', !isSink]);
      await client.api('DELETE', `destinations/${id}`);
    }
  }
});

test('stack: a first start asks the log for nothing that is missing or not permitted', async () => {
  const lines = (await readFile(join(folder, 'nats', 'nats-server.log'), 'utf8')).split('\n');
  // A gateway first tries to follow CONFIG, because the log may still have the users of an older version.
  const known = 'Publish Violation - Subject "$JS.API.CONSUMER.CREATE.KV_CONFIG.';
  const troubles = lines.filter((line) => /Violation|Healthcheck|recovered/.test(line));
  expect(troubles.filter((line) => !line.includes(known))).toEqual([]);
  const logs = await Promise.all(
    ['control-plane', 'gateway', 'pipeline', 'sink'].map((name) =>
      readFile(join(folder, 'logs', `${name}.log`), 'utf8'),
    ),
  );
  expect(logs.flatMap((log) => log.split('\n').filter((line) => /"level":[56]0/.test(line)))).toEqual([]);
  expect(logs.join('')).not.toContain('the log was empty');
});

test('stack: only its owner may read its logs', async () => {
  const logs = join(folder, 'logs');
  const files = [...(await readdir(logs)).map((name) => join(logs, name)), join(folder, 'nats', 'nats-server.log')];
  expect(files.length).toBeGreaterThan(4);
  for (const file of files) expect([file, (await stat(file)).mode & 0o077]).toEqual([file, 0]);
});

test('stack: commands run next to it find its servers, accept destination names, and report a wrong name in one line', async () => {
  const run = async (entry: string, ...arguments_: readonly string[]) => {
    const child = spawn(process.execPath, [compiledPath(new URL(entry, topFolder)), ...arguments_], {
      env: { PATH: process.env['PATH'], SLUICE_DIR: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [output, errors] = ['', ''];
    child.stdout.on('data', (chunk) => (output += String(chunk)));
    child.stderr.on('data', (chunk) => (errors += String(chunk)));
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    return { code, output, errors };
  };
  const [doctor, keys, letters, slip, ...others] = await Promise.all([
    run('deploy/cli/doctor/main.ts', '--json', '--deadline', '60000'),
    run('control-plane/keys-cli.ts', 'list', '--json'),
    run('deploy/cli/dead-letters/main.ts', 'list', 'demo sink', '--json'),
    run('deploy/cli/dead-letters/main.ts', 'list', 'Demo snk'),
    run('deploy/cli/sign-in-link/main.ts', '--json'),
    run('control-plane/reseal.ts', '--json'),
  ]);
  const { findings } = JSON.parse(doctor.output) as { findings: { about: string; level: string; detail: string }[] };
  const wanted = ['log', 'streams', 'durability', 'database', 'schema', 'secrets key', 'signed configuration'];
  expect(findings.filter(({ level, about }) => level !== 'ok' && wanted.includes(about))).toEqual([]);
  expect(findings.map(({ about }) => about)).toEqual(expect.arrayContaining(wanted));
  expect(JSON.parse(keys.output)).toMatchObject([{ isValid: true, expiresAt: null }]);
  expect(letters).toMatchObject({ code: 0, output: '{"kept":0}\n' });
  expect(others.map(({ errors }) => errors)).toEqual(['', '']);
  expect(others.map(({ output }) => JSON.parse(output) as unknown)).toEqual([
    { link: expect.stringContaining(`${stack.credentials.controlPlane}/sign-in#`) },
    { destinations: 0, sources: 0, versions: 0, sourceKeys: 0, erasures: 0, accountKeys: 0, unopened: 0 },
  ]);
  expect(slip.code).toBe(1);
  expect(slip.errors).toMatch(
    /^dead-letters: no live destination has the id or the name Demo snk, .*; did you mean Demo sink\?\n$/,
  );
});

test('stack: prints a curl command with the live token', () => {
  expect(stack.output()).toContain(`curl ${stack.credentials.gateway}/api/v1/track`);
  expect(stack.output()).toContain(stack.credentials.sourceToken);
});

test('stack: a track reaches the sink with its visitor, its id as idempotency key, and counts in health', async () => {
  const status = await client.track({
    event: 'Order Completed',
    distinctId: 'order-1',
    externalId: 'customer-42',
    properties: { total: 42.5 },
    userProperties: { first_name: 'Ada' },
  });
  expect(status).toBe(200);
  await expect.poll(() => keysAt('/demo'), settle).toContain('order-1');
  const [request] = await client.sinkRequests('/demo');
  expect(request?.method).toBe('POST');
  expect(request?.headers['content-type']).toContain('application/json');
  expect(request?.body).toMatchObject({
    event: { id: 'order-1', event: 'Order Completed', event_properties: { total: 42.5 } },
    visitor: { external_id: 'customer-42', first_name: 'Ada' },
  });
  await expect
    .poll(() => client.api('GET', `destinations/${stack.credentials.destinationId}/health`), settle)
    .toMatchObject({ status: 'HEALTHY', successCount: 1, failureCount: 0 });
});

test('stack: nothing that is delivered contains the key of the source', async () => {
  await client.track({ event: 'Quiet', distinctId: 'quiet-1', userId: 'u-1' });
  await expect.poll(() => keysAt('/demo'), settle).toContain('quiet-1');
  expect(JSON.stringify(await client.sinkRequests('/demo'))).not.toContain(stack.credentials.sourceToken);
});

test('stack: an event of a test key is accepted and not dispatched', async () => {
  const testEvent = { token: stack.credentials.testToken, event: 'Try', distinctId: 'try-1', userId: 'u-2' };
  expect(await client.track(testEvent)).toBe(200);
  // The live event of the same visitor follows the test event in the same partition.
  await client.track({ event: 'Live', distinctId: 'live-1', userId: 'u-2' });
  await expect.poll(() => keysAt('/demo'), settle).toContain('live-1');
  expect(await keysAt('/demo')).not.toContain('try-1');
});

test('stack: a second destination is published, receives, is disabled and stops receiving, all without a restart', async () => {
  const destination = await client.api('POST', 'destinations', {
    name: 'second',
    type: 'HTTPDestination',
    settings: { httpDestinationUrl: `${stack.credentials.sink}/second` },
  });
  await client.publish('adds a second destination');
  await client.track({ event: 'Both', distinctId: 'both-1', userId: 'u-3' });
  await expect.poll(() => keysAt('/second'), settle).toContain('both-1');

  await client.api('PATCH', `destinations/${String(destination['id'])}`, { status: 'Disabled' });
  await client.publish('disables it');
  await client.track({ event: 'First only', distinctId: 'first-only-1', userId: 'u-3' });
  await expect.poll(() => keysAt('/demo'), settle).toContain('first-only-1');
  expect(await keysAt('/second')).not.toContain('first-only-1');
});

test('stack: a failing destination is tried again under the same key until it takes the event', async () => {
  await client.setSink({ path: '/demo', status: 503, failFirst: 2 });
  await client.track({ event: 'Retried', distinctId: 'retried-1', userId: 'u-4' });
  const tries = async (): Promise<number> =>
    (await client.sinkRequests('/demo')).filter((r) => r.headers['idempotency-key'] === 'retried-1').length;
  await expect.poll(tries, { timeout: 45_000, interval: 200 }).toBe(3);
}, 40_000);

test('stack: an event that a destination refused arrives after the destination is fixed and the dead letters are replayed', async () => {
  const destination = `destinations/${stack.credentials.destinationId}`;
  await client.setSink({ path: '/demo', status: 400 });
  await client.track({ event: 'Refused', distinctId: 'refused-1', userId: 'u-6' });
  const letters = (): Promise<unknown> => client.api('GET', `${destination}/dead-letters`);
  await expect
    .poll(letters, settle)
    .toMatchObject({ entities: [{ event: { id: 'refused-1' }, reason: 'status 400', attempts: 1 }] });
  await client.setSink({ path: '/demo', status: 200 });
  expect(await client.api('POST', `${destination}/test`)).toMatchObject({ outcome: 'delivered' });
  const { id } = await client.api('POST', `${destination}/replay`, { what: 'dead-letters' });
  await expect
    .poll(() => client.api('GET', `${destination}/replays/${String(id)}`), settle)
    .toMatchObject({ status: 'done', queued: 1, share: 1 });
  const statuses = async (): Promise<string[]> =>
    (await client.sinkRequests('/demo'))
      .filter((request) => request.headers['idempotency-key'] === 'refused-1')
      .map(({ status }) => String(status))
      .toSorted();
  await expect.poll(statuses, settle).toEqual(['200', '400']);
  expect(await letters()).toMatchObject({ entities: [] });
}, 120_000);

test.each(['gateway', 'pipeline', 'nats-server', 'control-plane'])(
  'stack: no tracked event that got a 200 is lost when %s is ended with kill -9',
  async (victim) => {
    const accepted: string[] = [];
    const stop = new AbortController();
    const sender = async (n: number): Promise<void> => {
      for (let i = 0; !stop.signal.aborted; i += 1) {
        const distinctId = `${victim}-${n}-${i}`;
        const status = await client
          .track({ event: 'Ledger', distinctId, externalId: `ledger-${n}` })
          .catch(() => undefined);
        if (status === 200) accepted.push(distinctId);
        // The pause keeps the number of accepted events low.
        await new Promise((resolve) => setTimeout(resolve, status === 200 ? 10 : 50));
      }
    };
    const senders = [1, 2, 3, 4].map(sender);
    await expect.poll(() => accepted.length, settle).toBeGreaterThan(100);
    const before = await stack.pidOf(victim);
    process.kill(before, 'SIGKILL');
    await expect.poll(() => stack.output().includes(`${victim} is running again`), settle).toBe(true);
    const atRestart = accepted.length;
    await expect.poll(() => accepted.length, settle).toBeGreaterThan(atRestart + 50);
    stop.abort();
    await Promise.all(senders);
    const missing = async (): Promise<string[]> => {
      const delivered = await keysAt('/demo');
      return accepted.filter((id) => !delivered.has(id));
    };
    await expect.poll(missing, { timeout: 60_000, interval: 500 }).toEqual([]);
  },
  120_000,
);

test('stack: a busy port is an error that names its variable', async () => {
  const blocker = createServer().listen(0);
  const address = blocker.address();
  const busy = typeof address === 'object' && address !== null ? String(address.port) : '';
  const other = await makeStackFolder();
  const result = await runFailingStack(other, { ...(await chooseStackPorts()), SINK_PORT: busy });
  blocker.close();
  await rm(other, { recursive: true, force: true });
  expect(result.code).toBe(1);
  expect(result.output).toContain('SINK_PORT');
});

test('stack: a service that cannot start ends the stack, and is not started again', async () => {
  const other = await makeStackFolder();
  const result = await runFailingStack(other, { ...(await chooseStackPorts()), BATCH_ROWS_MAX: 'endless' });
  await rm(other, { recursive: true, force: true });
  expect(result.code).toBe(cannotStartExitCode);
  expect(result.output).toMatch(/\[gateway\] +- BATCH_ROWS_MAX must be a whole number/);
  expect(result.output).toContain('sluice did not start: gateway cannot start, for the reason above');
  expect(result.output).not.toContain('! gateway ended');
});

test('stack: a second launcher on the same folder is refused', async () => {
  const result = await runFailingStack(folder, await chooseStackPorts());
  expect(result.code).toBe(1);
  expect(result.output).toMatch(/already/);
});

test('stack: stops in good order and finds its data again', async () => {
  const { code } = await stack.stop();
  expect(code).toBe(0);
  expect(stack.output().trimEnd()).toMatch(/stopped$/);
  const { apiKey } = stack.credentials;
  stack = await runStack(folder, ports);
  client = createStackClient(stack.credentials);
  expect(stack.credentials.apiKey).toBe(apiKey);
  const { successCount } = await client.api('GET', `destinations/${stack.credentials.destinationId}/health`);
  expect(successCount).toBeGreaterThan(100);
}, 120_000);

test('stack: starts again after its launcher was killed, and ends the processes left running', async () => {
  await stack.kill();
  stack = await runStack(folder, ports);
  client = createStackClient(stack.credentials);
  expect(await client.track({ event: 'After', distinctId: 'after-1', userId: 'u-5' })).toBe(200);
  await expect.poll(() => keysAt('/demo'), settle).toContain('after-1');
}, 120_000);
