import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { encodeReport, leaseKey, leaseTtlMs } from '../../shared/contracts/process-report.ts';
import type { Bucket, WatchOptions } from '../../shared/nats/buckets/bucket.ts';
import { renewalWaitMs } from '../../shared/nats/buckets/instance-claim.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { defaultsOf } from '../../shared/runtime/env.ts';
import { membershipEnv, readMembershipTimes } from './membership-settings.ts';
import { followMembership, ownerOf } from './membership.ts';

const actors = Array.from({ length: 300 }, (_, i) => `dispatcher-${i}`);

test('ownership: without an instance an actor has no owner', () => {
  expect(ownerOf('resolver-0', [])).toBeUndefined();
});

test('ownership: property: an actor has one owner, whatever the order of the known instances', () => {
  const instances = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(instances, fc.string(), (known, actorId) => {
      const owner = ownerOf(actorId, known);
      expect(known).toContain(owner);
      expect(ownerOf(actorId, known.toReversed())).toBe(owner);
    }),
  );
});

test('ownership: property: when an instance leaves, only its own actors move', () => {
  const instances = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 2, maxLength: 6 });
  fc.assert(
    fc.property(instances, (known) => {
      const [gone, ...left] = known;
      for (const actorId of actors.slice(0, 40)) {
        const before = ownerOf(actorId, known);
        expect(before === gone || ownerOf(actorId, left) === before).toBe(true);
      }
    }),
  );
});

test('ownership: actors are spread about evenly', () => {
  const owned = actors.filter((actorId) => ownerOf(actorId, ['a', 'b', 'c']) === 'a').length;
  expect(owned).toBeGreaterThan(60);
  expect(owned).toBeLessThan(140);
});

/** The membership of instance a, and leases that the test renews. The clock stands still until the test advances it. */
async function membershipOfA() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let watch: WatchOptions | undefined;
  const bucket: Pick<Bucket, 'watch'> = {
    watch(options) {
      watch = options;
      options.onReady?.();
      return Promise.resolve({ stop: () => undefined, stopped: Promise.resolve() });
    },
  };
  const connection: Pick<LogConnection, 'connected' | 'onReconnect'> = {
    connected: true,
    onReconnect: () => () => undefined,
  };
  let revision = 0;
  const renew = (instanceId: string): void => {
    const name = { kind: 'pipeline', instanceId } as const;
    const value = encodeReport({ ...name, startedAt: new Date().toISOString(), revision: 0 });
    watch?.onEntry({ key: leaseKey(name), revision: (revision += 1), storedAtMs: 0, value });
  };
  const membership = await followMembership({
    bucket: bucket as Bucket,
    connection: connection as LogConnection,
    instanceId: 'a',
    times: { silentForMs: 2_000, handOverMs: 0 },
    onError: (error) => expect(error).toBeUndefined(),
  });
  onTestFinished(() => membership.stop());
  return { membership, renew };
}

test('membership: an instance that was declared dead stays dead when the log is slow later', async () => {
  const { membership, renew } = await membershipOfA();
  for (const instanceId of ['a', 'b', 'c']) renew(instanceId);
  expect(membership.instances).toEqual(['a', 'b', 'c']);
  const renewAandC = (): void => {
    vi.advanceTimersByTime(500);
    renew('a');
    renew('c');
  };
  for (let i = 0; i < 5; i += 1) renewAandC();
  expect(membership.instances).toEqual(['a', 'c']);
  const seen: string[] = [];
  membership.onChanged((instances) => seen.push(instances.join()));
  vi.advanceTimersByTime(3_000);
  renewAandC();
  expect(seen).toEqual([]);
  renew('b');
  expect(membership.instances).toEqual(['a', 'b', 'c']);
});

test('membership: with the longest silence a live instance keeps its lease and its instance id', () => {
  const { maximum = Infinity } = membershipEnv.PIPELINE_LEASE_SILENT_MS as { readonly maximum?: number };
  const times = readMembershipTimes({ ...defaultsOf(membershipEnv), PIPELINE_LEASE_SILENT_MS: maximum });
  expect(times.silentForMs).toBeLessThan(leaseTtlMs);
  expect(2 * times.renewEveryMs).toBeLessThan(renewalWaitMs);
});
