import type { Bucket } from './bucket.ts';

export type ProcessKind = 'gateway' | 'pipeline';

export type ProcessName = { readonly kind: ProcessKind; readonly instanceId: string };

/** The process that goes by an instance id, beyond that id. Where it runs is told on Linux only. */
export type InstanceHolder = {
  /** Of this life of the process. */
  readonly nonce: string;
  readonly pid: number;
  /** Within which ids of processes mean the same: the machine, or the container. */
  readonly machine?: string;
  /** Tells it from a process that had its id before; begins with the id of the running system. */
  readonly startedAt?: string;
};

/** What a live process says of itself in the LEASES bucket, under `<kind>.<instance>`. */
export type ProcessReport = ProcessName & {
  readonly startedAt: string;
  /** The configuration revision it runs. */
  readonly revision: number;
  /** The instances of its kind it shares work with: it has let go of all that is not its own among them. */
  readonly peers?: readonly string[];
  /** It is letting go of everything, to end. */
  readonly isLeaving?: boolean;
  /** Tells it from another process of the same id. */
  readonly holder?: InstanceHolder;
};

/** An entry not renewed for this long is gone, in ms. */
export const leaseTtlMs = 10_000;
const defaultRenewEveryMs = 3_000;

/** Registers a process and renews its lease; `report` is called again after each applied revision. */
export type ProcessLease = {
  report(revision: number): void;
  /** Tells the others of its kind that it runs nothing but its own among these instances. */
  letGo(peers: readonly string[]): void;
  /** Tells them that it is about to end. */
  leave(): void;
  release(): Promise<void>;
};

export function holdProcessLease(
  bucket: Bucket,
  process: ProcessName & { readonly holder?: InstanceHolder },
  onError: (error: unknown) => void,
  renewEveryMs = defaultRenewEveryMs,
): ProcessLease {
  const key = `${process.kind}.${process.instanceId}`;
  const startedAt = new Date().toISOString();
  let revision = 0;
  let about: Pick<ProcessReport, 'peers' | 'isLeaving'> = {};
  let writing: Promise<void> = Promise.resolve();
  const write = (): void => {
    const report: ProcessReport = { ...process, startedAt, revision, ...about };
    writing = writing.then(async () => {
      await bucket.put(key, Buffer.from(JSON.stringify(report)));
    });
    writing = writing.catch(onError);
  };
  const timer = setInterval(write, renewEveryMs);
  return {
    report(applied) {
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
      clearInterval(timer);
      await writing;
      await bucket.delete(key).catch(onError);
    },
  };
}
