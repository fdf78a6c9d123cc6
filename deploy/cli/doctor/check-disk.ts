import { mkdtemp, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readStackFolder } from '../../../shared/command-line/local-stack.ts';
import { checkSpace, findDataPlaces } from '../../../shared/doctor/check-space.ts';
import type { DataPlace } from '../../../shared/doctor/check-space.ts';
import { ok } from '../../../shared/doctor/finding.ts';
import type { Finding } from '../../../shared/doctor/finding.ts';
import { judgeSyncSpeed } from '../../../shared/doctor/judge-machine.ts';
import type { DoctorEnv } from './env.ts';

const syncedWrites = 15;
const syncedBytes = 16 * 1024;

/** Checks the disks of the log and the local stack, if they are on this machine. */
export async function checkDisks(env: DoctorEnv, timeoutMs: number): Promise<Finding[]> {
  const places = await findDataPlaces(env.NATS_MONITOR_URL, timeoutMs, readStackFolder(env));
  if (places.length === 0) {
    return [ok('disk', 'this machine holds no data; run the doctor where nats-server runs to check its disk')];
  }
  return (await Promise.all(places.map(checkDisk))).flat();
}

async function checkDisk(place: DataPlace): Promise<Finding[]> {
  const { folder } = place;
  const medianMs = await syncedWriteMs(folder);
  return [
    ...(await checkSpace(place)),
    medianMs === undefined
      ? ok('disk speed', `not measured: this user may not write in ${folder}`)
      : judgeSyncSpeed(folder, medianMs),
  ];
}

/** Median duration of a small synced write, such as a frame of events; undefined without write permission. */
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
