import { mkdtemp, open, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ok } from '../../../shared/doctor/finding.ts';
import type { Finding } from '../../../shared/doctor/finding.ts';
import { judgeDiskSpace, judgeLogRoom, judgeSyncSpeed } from '../../../shared/doctor/judge-machine.ts';
import { monitorUrls, readMonitor } from '../../../shared/nats/monitor/read-monitor.ts';
import type { DoctorEnv } from './env.ts';

const syncedWrites = 15;
const syncedBytes = 16 * 1024;
const loopback = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** The disks that the log and the local stack lie on, where they are this machine's. */
export async function checkDisks(env: DoctorEnv, timeoutMs: number): Promise<Finding[]> {
  const places = await dataPlaces(env, timeoutMs);
  if (places.length === 0) {
    return [ok('disk', 'no data lie on this machine; run the doctor where nats-server runs to look at its disk')];
  }
  return (await Promise.all(places.map(checkDisk))).flat();
}

type DataPlace = {
  readonly folder: string;
  /** What the streams of the nats-server there may still take; undefined: no server that says so runs there. */
  readonly untakenBytes?: number;
};

async function dataPlaces(env: DoctorEnv, timeoutMs: number): Promise<readonly DataPlace[]> {
  const local = monitorUrls(env.NATS_MONITOR_URL).filter(
    (url) => URL.canParse(url) && loopback.has(new URL(url).hostname),
  );
  const stores = await Promise.all(
    local.map(async (url): Promise<DataPlace | undefined> => {
      const { config, stats } = (await readMonitor(url, timeoutMs).catch(() => undefined))?.jetstream ?? {};
      if (config?.store_dir === undefined) return undefined;
      const untakenBytes = Math.max(0, (stats?.reserved_storage ?? 0) - (stats?.storage ?? 0));
      // Beside the folder that is the server's own.
      return { folder: dirname(config.store_dir), untakenBytes };
    }),
  );
  const wanted = stores.filter((place) => place !== undefined);
  if (wanted.length === 0) wanted.push({ folder: resolve(env.SLUICE_DIR) });
  const there = await Promise.all(wanted.map(({ folder }) => isFolder(folder)));
  const byFolder = new Map(wanted.filter((_, index) => there[index] === true).map((place) => [place.folder, place]));
  return [...byFolder.values()];
}

async function checkDisk({ folder, untakenBytes }: DataPlace): Promise<Finding[]> {
  const { bavail, blocks, bsize } = await statfs(folder);
  const space = judgeDiskSpace(folder, bavail * bsize, blocks * bsize);
  const medianMs = await syncedWriteMs(folder);
  return [
    space,
    ...(untakenBytes === undefined ? [] : [judgeLogRoom(folder, bavail * bsize, untakenBytes)]),
    medianMs === undefined
      ? ok('disk speed', `not measured: this user may not write in ${folder}`)
      : judgeSyncSpeed(folder, medianMs),
  ];
}

/** The median time of a small write that is synced, as a frame of events is; undefined where one may not write. */
async function syncedWriteMs(folder: string): Promise<number | undefined> {
  const own = await mkdtemp(join(folder, '.doctor-')).catch(() => undefined);
  if (own === undefined) return undefined;
  try {
    const file = await open(join(own, 'probe'), 'w');
    const bytes = Buffer.alloc(syncedBytes, 1);
    const times: number[] = [];
    try {
      for (let i = 0; i < syncedWrites; i += 1) {
        const started = performance.now();
        await file.write(bytes);
        await file.datasync();
        times.push(performance.now() - started);
      }
    } finally {
      await file.close();
    }
    return times.toSorted((a, b) => a - b)[Math.floor(syncedWrites / 2)];
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
