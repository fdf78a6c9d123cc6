import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { logEnv, logEnvRules, topologyEnv } from '../shared/nats/connection/log-env.ts';
import { EnvError, count, port, readEnv, serviceEnv } from '../shared/runtime/env.ts';
import { databaseEnv, databaseRules } from '../shared/postgres/database-env.ts';
import { recentEnv } from './workers/recent/recent-settings.ts';
import { readRanges } from '../shared/egress/egress-rules.ts';

const mebibyte = 1024 ** 2;
const hourMs = 3_600_000;

const PipelineEnvSchema = Type.Object({
  ...logEnv,
  ...topologyEnv,
  ...serviceEnv,
  ...databaseEnv,
  PIPELINE_METRICS_PORT: port(9082),
  /** 32 bytes, base64: opens the secrets of destinations. */
  SECRETS_KEY: Type.String({ minLength: 1 }),
  /** Worker threads; resolvers and dispatchers are spread over them. */
  PIPELINE_THREADS: Type.Integer({ minimum: 1, maximum: 256, default: 2 }),
  /** JavaScript heap of one thread, in MiB: one that outgrows it dies and starts again. */
  PIPELINE_THREAD_HEAP_MIB: count(1024, 64),
  /** What of it new objects may take, in MiB: it is filled whenever a thread is busy, and rarely given back. */
  PIPELINE_THREAD_YOUNG_HEAP_MIB: count(24, 3),
  /**
   * Heap of a thread, in MiB, that is not worth looking through for what is no longer used: a busy thread whose heap is
   * small would do so each second.
   */
  PIPELINE_THREAD_HEAP_FLOOR_MIB: count(128),
  /** How often an instance says that it is alive, in ms. */
  PIPELINE_LEASE_RENEW_MS: count(500, 50),
  /**
   * An instance that says nothing for this long is taken for dead, in ms: the others then take over what it ran. Taking
   * over from one that is alive after all disorders and loses nothing; what it had in flight is sent twice.
   */
  PIPELINE_LEASE_SILENT_MS: count(2_000, 2_000),
  /**
   * How long an actor may take to end when it moves to another thread or instance, in ms. Requests that are not answered by
   * then are sent again by the next one.
   */
  PIPELINE_HAND_OVER_MS: count(1_500, 0),
  /** Connections to PostgreSQL of one thread. */
  PIPELINE_DATABASE_CONNECTIONS_MAX: count(4),
  /** Memory of one thread's cache of visitors. */
  PIPELINE_VISITOR_CACHE_BYTES_MAX: count(64 * mebibyte, mebibyte),

  /** How long a repeated event id is recognised, in ms, and how many ids a partition remembers at most. */
  RESOLVER_DEDUPLICATION_WINDOW_MS: Type.Integer({ minimum: 0, maximum: 7 * 24 * hourMs, default: 24 * hourMs }),
  RESOLVER_DEDUPLICATION_IDS_MAX: count(8_000_000, 1_000),
  /**
   * How often a resolver writes down the ids it remembers, in ms, and with how many bytes at the latest: 8 an event.
   * A start reads what was written, and of EVENTS only what came after.
   */
  RESOLVER_CHECKPOINT_EVERY_MS: count(10_000, 100),
  RESOLVER_CHECKPOINT_BYTES_MAX: Type.Integer({ minimum: 1_024, maximum: mebibyte / 2, default: mebibyte / 4 }),
  /** Frames a resolver works on in one go. */
  RESOLVER_FRAMES_PER_TAKE: count(16),
  /** Least time between two takes that are not full, in ms; 0 takes each frame as it comes. */
  RESOLVER_TAKE_EVERY_MS: count(4, 0),
  /** After this long without a word a frame is given to a resolver again, in ms. */
  RESOLVER_ACK_WAIT_MS: count(10_000, 1_000),

  /** Requests in flight to one destination. */
  DISPATCH_CONCURRENCY: Type.Integer({ minimum: 1, maximum: 1_024, default: 64 }),
  /** How long a batch may wait for more events, in ms. */
  DISPATCH_LINGER_MS: count(5, 0),
  /** Events, and bytes of frames, one destination holds in memory. */
  DISPATCH_EVENTS_HELD_MAX: count(4_096),
  DISPATCH_BYTES_HELD_MAX: count(16 * mebibyte, mebibyte),
  DISPATCH_FRAMES_BUFFERED_MAX: count(32),
  /** Frames handed out above the oldest one that is not finished: with so many the destination waits for that one. */
  DISPATCH_FRAMES_AHEAD_MAX: count(4_096, 64),
  /** After this long without a word a frame is given to a dispatcher again, in ms. */
  DISPATCH_ACK_WAIT_MS: count(10_000, 1_000),
  /** Health windows are stored at most this often, in ms. */
  DISPATCH_HEALTH_FLUSH_MS: count(250, 10),
  DISPATCH_CONNECT_TIMEOUT_MS: count(3_000, 10),
  DISPATCH_HEADERS_TIMEOUT_MS: count(10_000, 10),
  /** From the first byte of a request to the last one of its answer. */
  DISPATCH_TOTAL_TIMEOUT_MS: count(15_000, 10),
  /** How long an event is tried before it becomes a dead letter, in ms. */
  RETRY_WINDOW_MS: count(4 * hourMs, 1_000),
  /**
   * What may wait for one destination with order `visitor`: visitors with an event that is to be tried again, events
   * parked behind those, and bytes these take in the retry log, which all destinations share (LOG_RETRY_BYTES_MAX). Past
   * any of them it takes no fresh events until its retries have made room.
   */
  DISPATCH_VISITORS_WAITING_MAX: count(100_000),
  DISPATCH_PARKED_EVENTS_MAX: count(200_000),
  DISPATCH_PARKED_BYTES_MAX: count(64 * mebibyte, mebibyte),
  /** CIDR ranges destinations may be in although they are not public, comma separated. */
  EGRESS_ALLOW: Type.String({ default: '' }),

  ...recentEnv,

  /** How often finished events are removed from the log, in ms. */
  RETENTION_EVERY_MS: count(10_000, 100),
  /** How long resolved events are kept for replay, in ms, while there is room. */
  RETENTION_HISTORY_MS: count(7 * 24 * hourMs, 1_000),
  /** Percent of LOG_EVENTS_BYTES_MAX above which history goes, and down to which. */
  RETENTION_HIGH_PERCENT: Type.Integer({ minimum: 1, maximum: 99, default: 70 }),
  RETENTION_LOW_PERCENT: Type.Integer({ minimum: 0, maximum: 98, default: 60 }),

  /** How often the log is looked at for backlogs, in ms. */
  BACKLOG_EVERY_MS: count(5_000, 100),
  /** Destinations that stand in metrics by themselves; the rest is summed up as `_other`. */
  METRICS_DESTINATIONS_MAX: count(1_000, 0),
});

export type PipelineEnv = Omit<Static<typeof PipelineEnvSchema>, 'EGRESS_ALLOW'> & {
  readonly EGRESS_ALLOW: readonly string[];
};

/** The pipeline's environment. Throws EnvError with every problem. */
export function readPipelineEnv(source: Readonly<Record<string, string | undefined>> = process.env): PipelineEnv {
  const rules = [...logEnvRules, ...databaseRules];
  const env = readEnv(PipelineEnvSchema, source, (path) => readFileSync(path, 'utf8'), rules);
  const ranges = readRanges(env.EGRESS_ALLOW);
  const problems: string[] = [];
  if (ranges === undefined) problems.push('EGRESS_ALLOW must hold CIDR ranges, such as 10.0.0.0/8');
  if (Buffer.from(env.SECRETS_KEY, 'base64').length !== 32) problems.push('SECRETS_KEY must be 32 bytes in base64');
  if (env.PIPELINE_LEASE_SILENT_MS < env.PIPELINE_LEASE_RENEW_MS * 3) {
    problems.push('PIPELINE_LEASE_SILENT_MS must be three times PIPELINE_LEASE_RENEW_MS at least');
  }
  if (env.RETENTION_LOW_PERCENT >= env.RETENTION_HIGH_PERCENT) {
    problems.push('RETENTION_LOW_PERCENT must be below RETENTION_HIGH_PERCENT');
  }
  if (ranges === undefined || problems.length > 0) throw new EnvError(problems);
  return { ...env, EGRESS_ALLOW: ranges };
}
