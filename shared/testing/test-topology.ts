import { topologyEnv, readTopologySettings } from '../nats/streams/topology-settings.ts';
import type { TopologySettings } from '../nats/streams/topology-settings.ts';
import { defaultsOf } from '../runtime/env.ts';

const mebibyte = 1024 ** 2;

type OwnSettings = Partial<TopologySettings> & {
  /** Size of each stream that has none of its own, in bytes. Default 64 MiB. */
  readonly streamBytesMax?: number;
};

/** A log that the server of a test has room for: one partition unless a test says more, the rest as in production. */
export function testTopology({ streamBytesMax = 64 * mebibyte, ...own }: OwnSettings = {}): TopologySettings {
  return {
    ...readTopologySettings(defaultsOf(topologyEnv)),
    partitions: 1,
    arePartitionsFitted: false,
    ingestBytesMax: streamBytesMax,
    eventsBytesMax: streamBytesMax,
    retryBytesMax: streamBytesMax,
    deadLetterBytesMax: streamBytesMax,
    ingestDeadLetterBytesMax: streamBytesMax,
    deduplicationBytesMax: streamBytesMax,
    ...own,
  };
}
