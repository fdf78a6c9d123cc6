import type { ProcessReport } from '../../shared/contracts/process-report.ts';
import { decodeReport, leaseKey, leasesOfKind } from '../../shared/contracts/process-report.ts';
import type { Bucket } from '../../shared/nats/buckets/bucket.ts';
import { followLeases } from '../../shared/nats/buckets/follow-leases.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { murmur3 } from '../../shared/runtime/murmur3.ts';

/** The pipeline instances that are alive, and which instance runs which actor. */
export type Membership = {
  readonly instances: readonly string[];
  owns(actorId: string): boolean;
  /**
   * Settles when actors of this instance may start: every other instance has released the actors that it no longer
   * owns, or its time for releasing them is over. Waiting only makes hand-overs smooth: in the log, the newest reader
   * of a consumer owns the consumer anyway.
   */
  untilShared(): Promise<void>;
  /** Calls `listener` with the instances whenever one has joined or left. */
  onChanged(listener: (instances: readonly string[]) => void): void;
  stop(): void;
};

export type MembershipTimes = {
  /** An instance that is silent for this long counts as dead, in ms. */
  readonly silentForMs: number;
  /** Time that an instance has for releasing the actors that it no longer owns, in ms. */
  readonly handOverMs: number;
};

export type MembershipOptions = {
  readonly bucket: Bucket;
  readonly connection: LogConnection;
  readonly instanceId: string;
  readonly times: MembershipTimes;
  onError(error: unknown): void;
};

const lookEveryMs = 100;
/** Extra wait, in ms, for instances that noticed the change later and whose time therefore ends later than ours. */
const handOverMarginMs = 1_000;

/** Follows the leases of pipeline instances; this instance counts as alive from the start. */
export async function followMembership(options: MembershipOptions): Promise<Membership> {
  const { bucket, connection, instanceId, times, onError } = options;
  const ownKey = leaseKey({ kind: 'pipeline', instanceId });
  let instances: readonly string[] = [instanceId];
  let others: readonly ProcessReport[] = [];
  let changedAtMs = performance.now();
  let lookedAtMs = performance.now();
  const listeners: ((instances: readonly string[]) => void)[] = [];
  let isKnown = false;
  let waiting: (() => void)[] = [];
  const isShared = (): boolean =>
    performance.now() - changedAtMs > times.handOverMs + handOverMarginMs ||
    others.every(({ peers, isLeaving }) => isLeaving !== true && peers?.join() === instances.join());
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    if (!isKnown) return;
    judge();
    // A single instance needs no timer: no other instance can fall silent or has actors to release.
    if (others.length > 0) timer ??= setInterval(look, lookEveryMs);
    else stopTimer();
  };
  const stopTimer = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  const judge = (): void => {
    const nowMs = performance.now();
    const lateMs = times.silentForMs / 2;
    const stoodStill = timer !== undefined && nowMs - lookedAtMs > lateMs;
    lookedAtMs = nowMs;
    // Renewals travel through the log. If this instance's own renewals are late too, the log is slow and the others may
    // be alive.
    const ownLeaseIsLate = nowMs - (heard.entries.get(ownKey)?.receivedAtMs ?? -Infinity) > lateMs;
    // Silence while this instance was disconnected or stalled is no evidence that the others are dead.
    if (!connection.connected || stoodStill || ownLeaseIsLate) heard.forgive();
    if (!connection.connected) return;
    // An instance that is dead must stay dead when the others are forgiven: its next renewal adds it again.
    heard.forgetBefore(nowMs - times.silentForMs);
    others = [...heard.entries].filter(([key]) => key !== ownKey).flatMap(([, { value }]) => decodeReport(value) ?? []);
    const found = [instanceId, ...others.flatMap((report) => (report.isLeaving === true ? [] : report.instanceId))];
    const next = found.toSorted((a, b) => (a < b ? -1 : 1));
    if (next.join() !== instances.join()) {
      instances = next;
      changedAtMs = nowMs;
      for (const listener of listeners) listener(instances);
    }
    if (!isShared()) return;
    for (const settle of waiting) settle();
    waiting = [];
  };
  const heard = await followLeases({ bucket, connection, filter: leasesOfKind('pipeline'), onChanged: look, onError });
  isKnown = true;
  look();
  return {
    get instances() {
      return instances;
    },
    owns: (actorId) => ownerOf(actorId, instances) === instanceId,
    untilShared: () => (isShared() ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    onChanged: (listener) => void listeners.push(listener),
    stop() {
      heard.stop();
      stopTimer();
    },
  };
}

/**
 * The instance that runs an actor: the one with the highest weight for its id (rendezvous hashing). Instances that know
 * the same members compute the same owner, and a change moves only the actors of the instance that joined or left.
 * Undefined without any instance.
 */
export function ownerOf(actorId: string, instances: Iterable<string>): string | undefined {
  let best: { readonly instance: string; readonly weight: number } | undefined;
  for (const instance of instances) {
    const weight = murmur3(`${actorId}@${instance}`);
    const isHigher = best === undefined || weight > best.weight || (weight === best.weight && instance > best.instance);
    if (isHigher) best = { instance, weight };
  }
  return best?.instance;
}
