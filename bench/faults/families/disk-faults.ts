import { sleep } from '../../machine/wait-until.ts';
import { kill, onceStill, takeDown, untilRunning } from '../stack/actions.ts';
import { slowSyncs } from '../stack/slow-syncs.ts';
import { servicesOf } from '../stack/stack.ts';
import { defineFault } from './fault.ts';

const diskMib = 1_536;
const mebibyte = 1024 ** 2;
const fullMs = 10_000;
const readOnlyMs = 10_000;
const syncMs = 50;
const slowForMs = 15_000;

/** Size limits of the streams; streams and buckets together stay below the size of the disk. */
const smallStreams = {
  LOG_INGEST_BYTES_MAX: String(128 * mebibyte),
  LOG_EVENTS_BYTES_MAX: String(128 * mebibyte),
  LOG_RETRY_BYTES_MAX: String(16 * mebibyte),
  LOG_DEAD_LETTERS_BYTES_MAX: String(16 * mebibyte),
  LOG_DEDUPLICATION_BYTES_MAX: String(16 * mebibyte),
};

const harms = ['log'] as const;

const refused =
  'Gateways answer 503 with `Retry-After` and are not ready; an event that could not be written is not acknowledged.';

export const diskFull = defineFault({
  name: 'disk-full',
  about: `the log's disk is full for ${fullMs / 1_000} s; then space is freed`,
  sees: `${refused} \`SluiceLogNearlyFull\` and the doctor’s \`disk\` warn beforehand. A stream that hit the full disk stays closed until its server is restarted; \`npm start\`, the systemd unit and the images restart it once there is space.`,
  does: 'Free space, or use a larger disk. Keep the sum of `LOG_*_BYTES_MAX` below the size of the disk, with a fifth to spare.',
  harms,
  needs: { root: true },
  disk: { kind: 'memory', mib: diskMib },
  env: smallStreams,
  async run({ disk }) {
    await disk.memory.fill();
    await sleep(fullMs);
    await disk.memory.free();
  },
});

export const diskFullRestart = defineFault({
  name: 'disk-full-restart',
  about: `the log's disk is full, nats-server gets SIGKILL and restarts on the full disk; ${fullMs / 1_000} s later space is freed`,
  sees: `As \`disk-full\`. A server without \`max_file_store\` keeps the space that was free at its start as its limit; Sluice’s nats-server configuration sets one.`,
  does: 'Free space; then everything continues by itself. If it does not, `npm run doctor` names the setting.',
  harms,
  needs: { root: true },
  disk: { kind: 'memory', mib: diskMib },
  env: smallStreams,
  async run({ stack, pick, disk }) {
    const node = pick(stack.log);
    await disk.memory.fill();
    await kill(node);
    await untilRunning(node);
    await sleep(fullMs);
    await disk.memory.free();
  },
});

export const diskReadOnly = defineFault({
  name: 'disk-read-only',
  about: `the log's file system detects an internal error and turns read-only while no sync is in flight; ${readOnlyMs / 1_000} s later it is checked and mounted again, and nats-server is started`,
  sees: `${refused} The kernel’s log reports that the file system was remounted read-only.`,
  does: 'Stop nats-server, check the file system (`e2fsck`), mount it, start nats-server. Acknowledged events were synced before, except those whose sync was in flight at that moment: ext4 (Linux 6.18) may report such a sync as done and lose its data, as in 2 of 30 tries with a program that only writes and syncs. On one node nothing above the kernel can prevent this; three nodes keep the other copies. `SluiceLogLostMessages` fires for messages that the check discarded.',
  harms,
  needs: { root: true, programs: ['mkfs.ext4', 'e2fsck'] },
  disk: { kind: 'block', mib: diskMib },
  env: smallStreams,
  async run({ stack, pick, disk }) {
    const node = pick(stack.log);
    // A sync in flight at this moment might succeed although its data is lost; that would be a fault of the kernel.
    await onceStill([node], () => disk.block.makeReadOnly());
    await node.signalFamily('SIGCONT');
    await sleep(readOnlyMs);
    await takeDown(node);
    await disk.block.startAgain();
    node.release();
    await untilRunning(node);
  },
});

export const powerCut = defineFault({
  name: 'power-cut',
  about:
    'the machine loses its power: what the log has written and not synced is lost, and every process ends; then all restart',
  sees: 'As `all-killed`: what was acknowledged had been synced. Every service logs at start what an acknowledged event survives; `SluiceDurabilityNotFsync` fires if a power cut can lose it.',
  does: 'The data needs no repair if the disk reports its syncs truthfully. If it does not, see [backup-restore.md](backup-restore.md).',
  harms,
  needs: { root: true, programs: ['mkfs.ext4', 'e2fsck', 'perl'] },
  disk: { kind: 'block', mib: diskMib },
  env: smallStreams,
  async run({ stack, disk }) {
    const parts = [...stack.log, stack.postgres, ...servicesOf(stack)];
    await onceStill(stack.log, () => disk.block.cutPower());
    await takeDown(...parts);
    await disk.block.startAgain();
    for (const part of parts) part.release();
    await untilRunning(...parts);
  },
});

export const diskSlow = defineFault({
  name: 'disk-slow',
  about: `each sync of nats-server takes ${syncMs} ms longer, for ${slowForMs / 1_000} s`,
  sees: 'Every request waits for its sync: `sluice_gateway_publish_duration_seconds` rises, frames grow, and throughput falls far less than the time suggests. The doctor times the disk.',
  does: 'Check which other programs write to that disk; give the log its own.',
  harms,
  needs: { root: true, programs: ['strace'] },
  async run({ stack, pick }) {
    const node = pick(stack.log);
    await untilRunning(node);
    const fast = await slowSyncs(node.pid, syncMs);
    await sleep(slowForMs);
    await fast();
  },
});
