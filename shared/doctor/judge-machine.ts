import { readFileSync } from 'node:fs';
import type { Finding } from './finding.ts';
import { fail, ok, warn } from './finding.ts';

/** Each connection takes a file, and clients that keep their connections open use up the usual limit of 1,024. */
const openFilesEnough = 16_384;
const skewWarnMs = 500;
/** Far below the 5 minutes by which an event's own time may lie in the future. */
const skewFailMs = 30_000;
const gibibyte = 1024 ** 3;
const syncSlowMs = 10;
const syncTooSlowMs = 100;

/** `softLimit` is the system's limit for this process; undefined if the system does not report it. */
export function judgeOpenFiles(softLimit: number | undefined): Finding {
  const about = 'open files';
  if (softLimit === undefined) return ok(about, 'this system does not report its limit');
  const detail = Number.isFinite(softLimit) ? `${softLimit} at most` : 'no limit';
  if (softLimit >= openFilesEnough) return ok(about, detail);
  return warn(about, detail, `raise the limit to ${openFilesEnough} or more (LimitNOFILE of the unit, ulimit -n)`);
}

/**
 * `skewMs` is how far the other clock is ahead of the local clock. `uncertaintyMs` is how far that reading may be off:
 * half the time that the answer took.
 */
export function judgeClock(of: string, skewMs: number, uncertaintyMs: number): Finding {
  const about = `clock of ${of}`;
  const off = Math.max(0, Math.abs(skewMs) - uncertaintyMs);
  const detail = `${Math.round(Math.abs(skewMs))} ms ${skewMs < 0 ? 'behind' : 'ahead of'} the clock of this machine, give or take ${Math.ceil(uncertaintyMs)} ms`;
  const advice = 'let both machines keep their time by NTP or chrony';
  if (off > skewFailMs) return fail(about, detail, advice);
  if (off > skewWarnMs) return warn(about, detail, advice);
  return ok(about, detail);
}

export function judgeDiskSpace(folder: string, freeBytes: number, totalBytes: number): Finding {
  const about = 'disk space';
  const percent = totalBytes === 0 ? 0 : (freeBytes / totalBytes) * 100;
  const detail = `${(freeBytes / gibibyte).toFixed(1)} GiB (${percent.toFixed(0)} %) free in ${folder}`;
  const advice = 'a full disk stops the log: free some space, or lower LOG_*_BYTES_MAX';
  if (freeBytes < gibibyte) return fail(about, detail, advice);
  if (percent < 15) return warn(about, detail, advice);
  return ok(about, detail);
}

/** `untakenBytes` is how much the streams on the folder's disk may still grow within their limits. */
export function judgeLogRoom(folder: string, freeBytes: number, untakenBytes: number): Finding {
  const about = 'room for the log';
  const gib = (bytes: number): string => `${(bytes / gibibyte).toFixed(1)} GiB`;
  const detail = `its streams may take ${gib(untakenBytes)} more, ${gib(freeBytes)} are free in ${folder}`;
  if (freeBytes >= untakenBytes) return ok(about, detail);
  const advice =
    'a disk that is full stops a stream until its nats-server is restarted: free some space, or lower LOG_*_BYTES_MAX';
  return warn(about, detail, advice);
}

/** `medianMs` is the median time to write and sync a few kilobytes in the folder. */
export function judgeSyncSpeed(folder: string, medianMs: number): Finding {
  const about = 'disk speed';
  const detail = `${medianMs.toFixed(2)} ms for a synced write in ${folder}`;
  const advice = 'every frame of events waits for one: use a local SSD, or a volume with more IOPS';
  if (medianMs > syncTooSlowMs) return fail(about, detail, advice);
  if (medianMs > syncSlowMs) return warn(about, detail, advice);
  return ok(about, detail);
}

/** How many files this process may have open; undefined if the system does not report the limit. */
export function openFilesLimit(): number | undefined {
  try {
    return parseOpenFilesLimit(readFileSync('/proc/self/limits', 'utf8'));
  } catch {
    return undefined;
  }
}

/** The soft limit of open files in the text of Linux's `/proc/<pid>/limits`; infinite if unlimited. */
export function parseOpenFilesLimit(limits: string): number | undefined {
  const soft = /^Max open files\s+(\S+)/m.exec(limits)?.[1];
  if (soft === undefined) return undefined;
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
}
