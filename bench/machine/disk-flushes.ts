import { readFile, stat } from 'node:fs/promises';

/**
 * Number of flushes of the disk that holds a folder, by all processes since boot, from the kernel's counters;
 * concurrent fsyncs share one flush. NaN if the system has no such counter: it is not Linux, or the disk has no write
 * cache. https://docs.kernel.org/admin-guide/iostats.html, field 16 of a disk's statistics.
 */
export async function readDiskFlushes(folder: string): Promise<number> {
  const { dev } = await stat(folder);
  const text = await readFile('/proc/diskstats', 'utf8').catch(() => '');
  return flushesOf(text, majorOf(dev), minorOf(dev));
}

const flushesField = 18;

/** Reads a disk's flushes from the text of /proc/diskstats; NaN if the disk has no line there. */
export function flushesOf(diskstats: string, major: number, minor: number): number {
  for (const line of diskstats.split('\n')) {
    const fields = line.trim().split(/\s+/);
    if (Number(fields[0]) !== major || Number(fields[1]) !== minor) continue;
    const flushes = Number(fields[flushesField]);
    return flushes > 0 ? flushes : Number.NaN;
  }
  return Number.NaN;
}

/** Linux packs major and minor number into the device number, with up to twelve and twenty bits. */
const majorOf = (device: number): number => (device >> 8) & 0xfff;
const minorOf = (device: number): number => (device & 0xff) | ((device >> 12) & 0xfff00);
