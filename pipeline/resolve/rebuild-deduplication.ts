import { idsHeader } from '../../shared/events/resolved-event.ts';
import type { DurableConsumer } from '../../shared/log/consumers.ts';
import { readHeaders } from '../../shared/log/read-headers.ts';
import { eventsOfPartition } from '../../shared/log/subjects.ts';
import { streams } from '../../shared/log/topology.ts';
import { oldestUnfinishedAtMs } from '../../shared/log/unfinished-messages.ts';
import { decodeHashes } from './event-hash.ts';
import type { ResolverContext } from './resolver-context.ts';

/**
 * Fills an empty deduplication table with the events this partition has written already, so that a frame that is
 * delivered again after a crash adds only what it had not added. The window counts back from the oldest frame that
 * waits, which may be older than now after a long stop.
 */
export async function rebuildDeduplication(context: ResolverContext, consumer: DurableConsumer): Promise<void> {
  const { connection, deduplication, settings, partition, logger, signal } = context;
  const startedMs = performance.now();
  const oldestMs = await oldestUnfinishedAtMs(connection, consumer);
  const frames = await readHeaders(connection, {
    stream: streams.events,
    filterSubject: eventsOfPartition(partition),
    sinceMs: Math.max(0, Math.min(oldestMs ?? Number.POSITIVE_INFINITY, Date.now()) - settings.deduplication.windowMs),
    header: idsHeader,
    silenceMaxMs: settings.rebuildSilenceMaxMs,
    signal,
    onValue: (ids, storedAtMs) => {
      for (const hash of decodeHashes(ids)) deduplication.add(hash, storedAtMs);
    },
  });
  const tookMs = Math.round(performance.now() - startedMs);
  logger.info({ partition, frames, ids: deduplication.size, tookMs }, 'deduplication rebuilt');
}
