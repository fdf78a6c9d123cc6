import { topologyEnv, readTopologySettings } from '../nats/streams/topology-settings.ts';
import type { TopologySettings } from '../nats/streams/topology-settings.ts';
import { defaultsOf } from '../runtime/env.ts';

const mebibyte = 1024 ** 2;

type OwnSettings = Partial<TopologySettings> & {
  /** Maximum size of each stream whose own maximum is not given, in bytes. Default 64 MiB. */
  readonly streamBytesMax?: number;
};

/** Settings of a log with small streams for a test's server: by default one partition, all else as in production. */
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
