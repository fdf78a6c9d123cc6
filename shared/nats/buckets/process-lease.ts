import { encodeReport, leaseKey } from '../../contracts/process-report.ts';
import type { InstanceHolder, ProcessName, ProcessReport } from '../../contracts/process-report.ts';
import { every } from '../../runtime/every.ts';
import { version } from '../../runtime/version.ts';
import type { Bucket } from './bucket.ts';

const defaultRenewEveryMs = 3_000;

/** Registers a process and renews its lease. Call `report` after each applied revision. */
export type ProcessLease = {
  report(revision: number): void;
  /**
   * Reports that this process shares the work with these instances, and has released everything that belongs to the
   * others.
   */
  letGo(peers: readonly string[]): void;
  /** Reports that this process is about to end. */
  leave(): void;
  release(): Promise<void>;
};

export function holdProcessLease(
  bucket: Bucket,
  process: ProcessName & { readonly holder?: InstanceHolder },
  onError: (error: unknown) => void,
  renewEveryMs = defaultRenewEveryMs,
): ProcessLease {
  const key = leaseKey(process);
  const startedAt = new Date().toISOString();
  let revision = 0;
  let revisionAt = startedAt;
  let about: Pick<ProcessReport, 'peers' | 'isLeaving'> = {};
  let writing: Promise<void> = Promise.resolve();
  const write = (): void => {
    const report: ProcessReport = { ...process, startedAt, version, revision, revisionAt, ...about };
    writing = writing.then(async () => {
      await bucket.put(key, encodeReport(report));
    });
    writing = writing.catch(onError);
  };
  let isDue = false;
  const renewing = every(renewEveryMs, () => {
    // The only instance renews half as often until a second instance starts, which must see the lease in time.
    isDue = !isDue || about.peers?.length !== 1;
    if (isDue) write();
  });
  return {
    report(applied) {
      if (applied !== revision) revisionAt = new Date().toISOString();
      revision = applied;
      write();
    },
    letGo(peers) {
      about = { ...about, peers };
      write();
    },
    leave() {
      about = { ...about, isLeaving: true };
      write();
    },
    async release() {
      await renewing.stop();
      await writing;
      await bucket.delete(key).catch(onError);
    },
  };
}
