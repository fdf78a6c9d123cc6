import type { Bucket } from '../../shared/log/bucket.ts';
import type { LogConnection } from '../../shared/log/connection.ts';
import { followHeard } from './heard-entries.ts';
import { ownerOf } from './ownership.ts';

/** The pipeline instances alive, and who of them runs what. */
export type Membership = {
  readonly instances: readonly string[];
  owns(actorId: string): boolean;
  stop(): void;
};

export type MembershipOptions = {
  readonly bucket: Bucket;
  readonly connection: LogConnection;
  readonly instanceId: string;
  onChanged(instances: readonly string[]): void;
  onError(error: unknown): void;
};

/** Leases are renewed every 3 s: one not renewed for this long is taken for dead, in ms. */
export const silentForMs = 6_500;
const lookEveryMs = 500;
const prefix = 'pipeline.';

/** Follows the leases of pipeline instances; this one counts from the start. */
export async function followMembership(options: MembershipOptions): Promise<Membership> {
  const { bucket, connection, instanceId, onChanged, onError } = options;
  let instances: readonly string[] = [instanceId];
  let isKnown = false;
  const look = (): void => {
    if (!isKnown) return;
    if (!connection.connected) {
      heard.forgive();
      return;
    }
    const nowMs = performance.now();
    const alive = [...heard.entries].filter(([, { heardAtMs }]) => nowMs - heardAtMs < silentForMs);
    const found = new Set([instanceId, ...alive.map(([key]) => key.slice(prefix.length))]);
    const next = [...found].toSorted((a, b) => (a < b ? -1 : 1));
    if (next.join() === instances.join()) return;
    instances = next;
    onChanged(instances);
  };
  const heard = await followHeard({ bucket, connection, filter: `${prefix}*`, onChanged: look, onError });
  isKnown = true;
  look();
  const timer = setInterval(look, lookEveryMs);
  return {
    get instances() {
      return instances;
    },
    owns: (actorId) => ownerOf(actorId, instances) === instanceId,
    stop() {
      clearInterval(timer);
      heard.stop();
    },
  };
}
