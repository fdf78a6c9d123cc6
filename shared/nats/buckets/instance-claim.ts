import { randomUUID } from 'node:crypto';
import { readlink } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { every } from '../../runtime/every.ts';
import { readProcessFacts } from '../../runtime/process-facts.ts';
import { whileForming } from '../connection/while-forming.ts';
import type { Bucket, BucketEntry } from './bucket.ts';
import { decodeReport, encodeReport, leaseKey } from '../../contracts/process-report.ts';
import type { InstanceHolder, ProcessName, ProcessReport } from '../../contracts/process-report.ts';

/** Another live process uses the instance id. */
export class InstanceIdTakenError extends Error {
  readonly code = 'instance_id_taken';
}

/** A live process renews its lease within this time, in ms. */
export const renewalWaitMs = 5_000;
const lookEveryMs = 200;

/**
 * Claims an instance id for this process, or throws InstanceIdTakenError: two processes with one id would overwrite
 * each other's leases and health windows. The entry of a killed process stays. On the same machine its id is free at
 * once; on another machine it is free once the lease was not renewed for `waitMs`.
 */
export async function claimInstanceId(
  bucket: Bucket,
  claimed: ProcessName,
  waitMs = renewalWaitMs,
): Promise<InstanceHolder> {
  const key = leaseKey(claimed);
  const holder = await ownHolder();
  const report: ProcessReport = { ...claimed, startedAt: new Date().toISOString(), revision: 0, holder };
  const value = encodeReport(report);
  for (;;) {
    // Another process may have just created the bucket; requests fail until the bucket has a leader.
    const entry = await whileForming(() => bucket.get(key));
    const isHeld = entry?.value !== undefined;
    if (isHeld && (await isAlive(bucket, entry, holder, waitMs))) throw takenError(claimed, entry, holder);
    if ((await bucket.putIfUnchanged(key, value, isHeld ? entry.revision : 0)) !== undefined) return holder;
  }
}

/** Calls `onTaken` if another process has claimed the id, because this process was silent and considered dead. */
export function watchInstanceId(
  bucket: Bucket,
  claimed: ProcessName,
  holder: InstanceHolder,
  onTaken: () => void,
  everyMs = renewalWaitMs / 2,
): { stop(): void } {
  const look = async (): Promise<void> => {
    const entry = await bucket.get(leaseKey(claimed));
    const found = holderOf(entry);
    if (found !== undefined && found.nonce !== holder.nonce) onTaken();
  };
  // Errors are ignored: the connection reports an unreachable log.
  const looking = every(everyMs, () => look().catch(() => undefined));
  return { stop: () => void looking.stop() };
}

async function ownHolder(): Promise<InstanceHolder> {
  const [facts, machine] = await Promise.all([
    readProcessFacts(process.pid),
    // A process id is unique only within its namespace.
    readlink('/proc/self/ns/pid').catch(() => undefined),
  ]);
  const where = facts === undefined || machine === undefined ? {} : { machine, startedAt: facts.startedAt };
  return { nonce: randomUUID(), pid: process.pid, ...where };
}

async function isAlive(bucket: Bucket, entry: BucketEntry, own: InstanceHolder, waitMs: number): Promise<boolean> {
  const found = holderOf(entry);
  if (isOfThisMachine(found, own)) return (await readProcessFacts(found.pid))?.startedAt === found.startedAt;
  const endMs = performance.now() + waitMs;
  while (performance.now() < endMs) {
    await delay(lookEveryMs);
    const now = await bucket.get(entry.key);
    if (now?.value === undefined) return false;
    if (now.revision !== entry.revision) return true;
  }
  return false;
}

function isOfThisMachine(found: InstanceHolder | undefined, own: InstanceHolder): found is InstanceHolder {
  if (found?.machine === undefined || found.machine !== own.machine) return false;
  return bootOf(found) === bootOf(own);
}

/** `startedAt` begins with the boot id of the system. */
const bootOf = ({ startedAt }: InstanceHolder): string | undefined => startedAt?.split(':')[0];

function holderOf(entry: BucketEntry | undefined): InstanceHolder | undefined {
  return decodeReport(entry?.value)?.holder;
}

function takenError({ kind, instanceId }: ProcessName, entry: BucketEntry, own: InstanceHolder): Error {
  const found = holderOf(entry);
  const where = isOfThisMachine(found, own) ? `process ${found.pid} on this machine` : 'a process on another machine';
  return new InstanceIdTakenError(
    `starting as INSTANCE_ID ${instanceId}: ${where} is a live ${kind} with this name on the log at NATS_URL. ` +
      'A process of the same stack needs an INSTANCE_ID of its own; another stack needs a log of its own',
  );
}
