import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bucketSettings } from '../../shared/nats/buckets/open-buckets.ts';
import { streamConfigs } from '../../shared/nats/streams/topology.ts';
import { testTopology } from '../../shared/testing/test-topology.ts';
import { inheritedEnv } from '../local/env.ts';

const read = (name: string): Promise<string> => readFile(join(import.meta.dirname, name), 'utf8');
const writeError = `{"status":"unavailable","error":"JetStream stream '$G > INGEST' write error: no space left on device"}`;

let folder: string;
let monitor: Server;
let answer: { status: number; body: string };
let server: ChildProcess;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-healthcheck-'));
  answer = { status: 200, body: '{"status":"ok"}' };
  monitor = createServer((_, reply) => reply.writeHead(answer.status).end(answer.body)).listen(0, '127.0.0.1');
  await once(monitor, 'listening');
  server = spawn('sleep', ['600']);
  await once(server, 'spawn');
  await writeFile(join(folder, 'pid'), String(server.pid));
});

afterEach(async () => {
  monitor.closeAllConnections();
  monitor.close();
  server.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

/** Runs the check with a `df` that reports `freeKib` of free space. Returns the exit code. */
async function check(freeKib: number): Promise<number> {
  const df = `#!/bin/sh\nprintf 'Filesystem 1024-blocks Used Available\\nx 1 1 ${freeKib}\\n'\n`;
  await writeFile(join(folder, 'df'), df);
  await chmod(join(folder, 'df'), 0o755);
  if (!hasHttpTool) await writeNetcat();
  const env = {
    PATH: `${folder}:${inheritedEnv()['PATH'] ?? ''}`,
    NATS_MONITOR_PORT: String((monitor.address() as AddressInfo).port),
    NATS_STORE_DIR: folder,
    NATS_PID_FILE: join(folder, 'pid'),
  };
  const child = execFile('/bin/sh', [join(import.meta.dirname, 'healthcheck')], { env });
  const [code] = (await once(child, 'close')) as [number];
  return code;
}

/** Whether the machine has curl or nc. The image of nats-server has nc. */
const hasHttpTool = ['curl', 'nc'].some((tool) => spawnSync('/bin/sh', ['-c', `command -v ${tool}`]).status === 0);

async function writeNetcat(): Promise<void> {
  const talk = `const socket = require('net').connect(+process.argv[2], process.argv[1]);
process.stdin.pipe(socket, { end: false });
socket.pipe(process.stdout);`;
  // Called as: nc -w 3 127.0.0.1 <port>
  await writeFile(join(folder, 'nc'), `#!/bin/sh\nexec '${process.execPath}' -e "${talk}" "$3" "$4"\n`);
  await chmod(join(folder, 'nc'), 0o755);
}

const isAlive = (): boolean => server.exitCode === null && server.signalCode === null;

test('nats healthcheck: a healthy server passes; a server that is still catching up fails, but is not killed', async () => {
  expect(await check(1_000_000)).toBe(0);
  answer = { status: 503, body: '{"status":"unavailable","error":"JetStream is not current with the meta leader"}' };
  expect(await check(1_000_000)).toBe(1);
  expect(isAlive()).toBe(true);
});

test.each([
  ['that could not write', writeError],
  ['that turned JetStream off', '{"status":"unavailable","error":"JetStream not enabled"}'],
])('nats healthcheck: a server %s is ended once its disk has room, not before', async (_, body) => {
  answer = { status: 503, body };
  expect(await check(100)).toBe(1);
  expect(isAlive()).toBe(true);
  const ended = once(server, 'exit');
  expect(await check(1_000_000)).toBe(1);
  expect(await ended).toEqual([null, 'SIGKILL']);
});

test('nats unit: restarts the server after any exit, limits its memory, and gives it time to hand over', async () => {
  const [unit, conf] = await Promise.all([read('nats-server.service'), read('nats-server.conf')]);
  expect(unit).toMatch(/^Restart=always$/m);
  expect(unit).toMatch(/^Environment=GOMEMLIMIT=\d+[MG]iB$/m);
  const seconds = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1]);
  const handOver = seconds(conf, /lame_duck_duration: (\d+)s/) + seconds(conf, /lame_duck_grace_period: (\d+)s/);
  expect(seconds(unit, /^TimeoutStopSec=(\d+)$/m)).toBeGreaterThan(handOver);
});

test('nats configuration: syncs every write and says how much may be stored', async () => {
  const conf = await read('nats-server.conf');
  expect(conf).toMatch(/^ {2}sync_interval: always$/m);
  expect(conf).toMatch(/^ {2}max_file_store: \d+GB$/m);
  const watch = await read('nats-server-watch.service');
  expect(watch).toContain(`NATS_STORE_DIR=${/store_dir: (\S+)/.exec(conf)?.[1]}`);
  expect(watch).toContain(`NATS_PID_FILE=${/pid_file: (\S+)/.exec(conf)?.[1]}`);
});

test('nats configuration: pages state the space that streams and buckets reserve in addition to the limits an operator sets', async () => {
  const mebibyte = 1024 ** 2;
  const settings = testTopology({ streamBytesMax: mebibyte });
  const limits = [
    ...streamConfigs(settings).map((stream) => stream.max_bytes ?? 0),
    ...Object.values(bucketSettings(1)).map(({ bytesMax }) => bytesMax),
  ];
  // Leaves out the seven streams whose limits an operator sets; each has 1 MiB here.
  const reservedMib = limits.reduce((sum, bytes) => sum + bytes, 0) / mebibyte - 7;
  const named = `${reservedMib.toLocaleString('en')} MiB`;
  for (const page of ['nats-server.conf', 'README.md', '../compose/.env.example', '../prometheus/runbook.yml'])
    expect({ page, text: await read(page) }).toEqual({ page, text: expect.stringContaining(named) });
});

test('nats unit: a server that would not find its streams is not started', async () => {
  const unit = await read('nats-server.service');
  const script = /^ExecStartPre=\/bin\/sh -c '(.*)'$/m.exec(unit)?.[1] ?? '';
  const start = async (conf: string): Promise<{ status: number | null; said: string }> => {
    await writeFile(join(folder, 'nats-server.conf'), conf);
    const here = script.replaceAll('/var/lib/nats', folder).replaceAll('/etc/nats', folder);
    const { status, stderr } = spawnSync('/bin/sh', ['-c', here], { encoding: 'utf8' });
    return { status, said: stderr };
  };
  const [before, now] = ['include users.conf\n', await read('nats-server.conf')];
  expect(now).toMatch(/^include accounts.conf$/m);
  expect(await start(now)).toEqual({ status: 0, said: '' });
  await mkdir(join(folder, 'jetstream', '$G', 'streams'), { recursive: true });
  expect(await start(before)).toEqual({ status: 0, said: '' });
  expect(await start(now)).toEqual({ status: 1, said: expect.stringContaining('began without accounts') as string });
});
