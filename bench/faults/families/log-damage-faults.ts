import { open, readdir, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { takeDown, untilRunning } from '../stack/actions.ts';
import { streamsFolder } from '../stack/stack-parts.ts';
import type { FaultStack } from '../stack/stack.ts';
import { servicesOf } from '../stack/stack.ts';
import { defineFault } from './fault.ts';
import type { Fault } from './fault.ts';
import { logAccount } from '../../../shared/nats/users/log-users.ts';

const cutBytes = 200;
const tornBytes = 512;

type Damage = {
  readonly name: string;
  readonly about: string;
  harm(block: FileHandle, size: number): Promise<void>;
};

/** A fault that damages the newest blocks of streams, like a disk that reported writes it had not made. */
const damaged = ({ name, about, harm }: Damage): Fault =>
  defineFault({
    name,
    about: `${about} while nats-server is down: Sluice reports it and loses nothing stored later`,
    sees: 'Some events are lost, and Sluice reports it: `SluiceLogLostMessages` or `SluiceLogWentBack`, with the streams and sequences in the log and in `npm run doctor`. What is stored from then on arrives.',
    does: 'Replace the disk, or the layer that reported syncs that were not done. Only the clients, or a backup of the log ([backup-restore.md](backup-restore.md)), can supply the events that destinations miss. On three nodes the damaged one copies from the others.',
    harms: ['log'],
    destroys: true,
    async run(context) {
      const node = context.pick(context.stack.log);
      await takeDown(node);
      for (const stream of [streams.events, streams.ingest]) {
        await harmNewestBlock(join(streamsFolder(node.storeDir), logAccount, 'streams', stream, 'msgs'), harm);
      }
      context.mayMissUntilNow();
      node.release();
      await untilRunning(node);
    },
    async check({ stack }) {
      return (await findAlarm(stack)) === undefined ? 'no service reports that the log lost messages' : undefined;
    },
  });

export const logCut = damaged({
  name: 'log-cut',
  about: `${cutBytes} bytes are cut off the newest blocks of EVENTS and INGEST`,
  harm: (block, size) => block.truncate(Math.max(0, size - cutBytes)),
});

export const logTorn = damaged({
  name: 'log-torn',
  about: `the last ${tornBytes} bytes of the newest blocks of EVENTS and INGEST are zeros, as if their sectors had never been written,`,
  async harm(block, size) {
    const from = Math.max(0, size - tornBytes);
    await block.write(Buffer.alloc(size - from), 0, size - from, from);
  },
});

async function harmNewestBlock(folder: string, harm: Damage['harm']): Promise<void> {
  const numbers = (await readdir(folder)).flatMap((name) => /^(\d+)\.blk$/.exec(name)?.[1] ?? []).map(Number);
  const path = join(folder, `${Math.max(...numbers)}.blk`);
  const { size } = await stat(path);
  const block = await open(path, 'r+');
  try {
    await harm(block, size);
  } finally {
    await block.close();
  }
}

const counting = /^(sluice_\w*(?:lost|missing|damaged)\w*)(?:\{.*\})? (\S+)$/gm;
const askMs = 5_000;

/** Name of the metric in which a service reports that stored messages are gone; undefined if no service reports it. */
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
