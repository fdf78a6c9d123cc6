import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { sleep } from '../../machine/wait-until.ts';
import { kill, only, startedAgain } from '../stack/actions.ts';
import { defineFault } from './fault.ts';
import { fillLogDisk, freeLogDisk } from '../stack/log-disk.ts';
import { streamsFolder } from '../stack/stack-parts.ts';
import type { FaultStack } from '../stack/stack.ts';
import { servicesOf } from '../stack/stack.ts';

const diskMib = 1_536;
const mebibyte = 1024 ** 2;
const fullMs = 10_000;
const cutBytes = 200;

export const diskFullRestart = defineFault({
  name: 'disk-full-restart',
  about: `the log's disk is full, nats-server gets SIGKILL and stands on the full disk for ${fullMs / 1_000} s; then there is room`,
  needs: 'root',
  logDiskMib: diskMib,
  // What the streams and buckets may take together is less than the disk has.
  env: {
    LOG_INGEST_BYTES_MAX: String(128 * mebibyte),
    LOG_EVENTS_BYTES_MAX: String(128 * mebibyte),
    LOG_RETRY_BYTES_MAX: String(16 * mebibyte),
    LOG_DEAD_LETTERS_BYTES_MAX: String(16 * mebibyte),
    LOG_DEDUPLICATION_BYTES_MAX: String(16 * mebibyte),
  },
  async run({ stack }) {
    const node = only(stack.log);
    const { starts } = node;
    await fillLogDisk(node.storeDir);
    kill(node);
    await startedAgain(node, starts);
    await sleep(fullMs);
    await freeLogDisk(node.storeDir, diskMib);
  },
});

export const logCut = defineFault({
  name: 'log-cut',
  about: `${cutBytes} bytes are cut off the newest blocks of EVENTS and INGEST while nats-server is down: it is noticed, and nothing stored later is lost`,
  async run(context) {
    const node = only(context.stack.log);
    const { starts } = node;
    node.hold();
    kill(node);
    // Its end has been told to us when there is no process any more.
    while (node.pid !== 0) await sleep(10);
    for (const stream of [streams.events, streams.ingest]) await cutNewestBlock(node.storeDir, stream);
    context.mayMissUntilNow();
    node.release();
    await startedAgain(node, starts);
  },
  async check({ stack }) {
    return (await findAlarm(stack)) === undefined ? 'no service says that the log has lost anything' : undefined;
  },
});

/** What a disk that lied about its writes leaves: a block that ends in the middle of a message. */
async function cutNewestBlock(storeDir: string, stream: string): Promise<void> {
  const folder = join(streamsFolder(storeDir), '$G', 'streams', stream, 'msgs');
  const numbers = (await readdir(folder)).flatMap((name) => /^(\d+)\.blk$/.exec(name)?.[1] ?? []).map(Number);
  const block = join(folder, `${Math.max(...numbers)}.blk`);
  const { size } = await stat(block);
  const file = await open(block, 'r+');
  try {
    await file.truncate(Math.max(0, size - cutBytes));
  } finally {
    await file.close();
  }
}

const counting = /^(sluice_\w*(?:lost|missing|damaged)\w*)(?:\{.*\})? (\S+)$/gm;
const askMs = 5_000;

/** The name of a metric by which some service says that stored messages are gone; undefined: none does. */
async function findAlarm(stack: FaultStack): Promise<string | undefined> {
  const pages = await Promise.all(servicesOf(stack).map(({ metricsUrl }) => readPage(metricsUrl)));
  const raised = pages.flatMap((page) => [...page.matchAll(counting)]).find(([, , value]) => Number(value) > 0);
  return raised?.[1];
}

function readPage(metricsUrl: string): Promise<string> {
  return fetch(`${metricsUrl}/metrics`, { signal: AbortSignal.timeout(askMs) }).then(
    (answer) => answer.text(),
    () => '',
  );
}
