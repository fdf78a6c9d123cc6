import { mkdtemp, open, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ok } from '../../shared/doctor/finding.ts';
import type { Finding } from '../../shared/doctor/finding.ts';
import { judgeDiskSpace, judgeSyncSpeed } from '../../shared/doctor/judge-machine.ts';
import { monitorUrls, readMonitor } from '../../shared/doctor/read-monitor.ts';
import type { DoctorEnv } from './env.ts';

const syncedWrites = 15;
const syncedBytes = 16 * 1024;
const loopback = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** The disks that the log and the local stack lie on, where they are this machine's. */
export async function checkDisks(env: DoctorEnv, timeoutMs: number): Promise<Finding[]> {
  const folders = await dataFolders(env, timeoutMs);
  if (folders.length === 0) {
    return [ok('disk', 'no data lie on this machine; run the doctor where nats-server runs to look at its disk')];
  }
  return (await Promise.all(folders.map(checkDisk))).flat();
}

async function dataFolders(env: DoctorEnv, timeoutMs: number): Promise<readonly string[]> {
  const local = monitorUrls(env.NATS_MONITOR_URL).filter(
    (url) => URL.canParse(url) && loopback.has(new URL(url).hostname),
  );
  const stores = await Promise.all(
    local.map(async (url) => {
      const { config } = (await readMonitor(url, timeoutMs).catch(() => undefined))?.jetstream ?? {};
      // Beside the folder that is the server's own.
      return config?.store_dir === undefined ? undefined : dirname(config.store_dir);
    }),
  );
  const wanted = stores.filter((folder) => folder !== undefined);
  if (wanted.length === 0) wanted.push(resolve(env.SLUICE_DIR));
  const there = await Promise.all(wanted.map((folder) => isFolder(folder)));
  return [...new Set(wanted.filter((_, index) => there[index] === true))];
}

async function checkDisk(folder: string): Promise<Finding[]> {
  const { bavail, blocks, bsize } = await statfs(folder);
  const space = judgeDiskSpace(folder, bavail * bsize, blocks * bsize);
  const medianMs = await syncedWriteMs(folder);
  return [
    space,
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
