import { readFile, stat } from 'node:fs/promises';

/**
 * Flushes that the disk under a folder has done so far for all processes, as the kernel counts them: what is left of
 * fsyncs once those under way at the same time share one. NaN where the system does not say: not Linux, or a disk without
 * a cache to flush. https://docs.kernel.org/admin-guide/iostats.html, field 16 of the statistics of a disk.
 */
export async function readDiskFlushes(folder: string): Promise<number> {
  const { dev } = await stat(folder);
  const text = await readFile('/proc/diskstats', 'utf8').catch(() => '');
  return flushesOf(text, majorOf(dev), minorOf(dev));
}

const flushesField = 18;

/** Of the line of that disk in the text of /proc/diskstats; NaN without one. */
export function flushesOf(diskstats: string, major: number, minor: number): number {
  for (const line of diskstats.split('\n')) {
    const fields = line.trim().split(/\s+/);
    if (Number(fields[0]) !== major || Number(fields[1]) !== minor) continue;
    const flushes = Number(fields[flushesField]);
    return flushes > 0 ? flushes : Number.NaN;
  }
  return Number.NaN;
}

/** As Linux packs them into a device's number, up to twelve and twenty bits. */
const majorOf = (device: number): number => (device >> 8) & 0xfff;
const minorOf = (device: number): number => (device & 0xff) | ((device >> 12) & 0xfff00);
