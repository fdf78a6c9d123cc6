import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { monitorUrls, readMonitor } from '../nats/monitor/read-monitor.ts';
import type { Finding } from './finding.ts';
import { judgeDiskSpace, judgeLogRoom } from './judge-machine.ts';

const loopback = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** A folder on this machine that holds data. */
export type DataPlace = {
  readonly folder: string;
  /**
   * Bytes that the streams of the nats-server that uses the folder may still add; undefined if no nats-server uses it.
   */
  readonly untakenBytes?: number;
};

/** Existing folders in which the nats-servers of this machine store streams; without such servers, `otherwise`. */
export async function findDataPlaces(
  monitorUrlList: string | undefined,
  timeoutMs: number,
  otherwise?: string,
): Promise<readonly DataPlace[]> {
  const local = monitorUrls(monitorUrlList).filter((url) => URL.canParse(url) && loopback.has(new URL(url).hostname));
  const stores = await Promise.all(
    local.map(async (url): Promise<DataPlace | undefined> => {
      const { config, stats } = (await readMonitor(url, timeoutMs).catch(() => undefined))?.jetstream ?? {};
      if (config?.store_dir === undefined) return undefined;
      const untakenBytes = Math.max(0, (stats?.reserved_storage ?? 0) - (stats?.storage ?? 0));
      // The monitor reports the subfolder `jetstream` of the configured folder.
      return { folder: dirname(config.store_dir), untakenBytes };
    }),
  );
  const wanted = stores.filter((place) => place !== undefined);
  if (wanted.length === 0 && otherwise !== undefined) wanted.push({ folder: otherwise });
  const there = await Promise.all(wanted.map(({ folder }) => isFolder(folder)));
  const byFolder = new Map(wanted.filter((_, index) => there[index] === true).map((place) => [place.folder, place]));
  return [...byFolder.values()];
}

/** Judges the free space of the folder's disk, also against the bytes that the streams in the folder may still add. */
export async function checkSpace({ folder, untakenBytes }: DataPlace): Promise<Finding[]> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return [
    judgeDiskSpace(folder, bavail * bsize, blocks * bsize),
    ...(untakenBytes === undefined ? [] : [judgeLogRoom(folder, bavail * bsize, untakenBytes)]),
  ];
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
