import { zeros } from '../workers/worker/define-worker.ts';
import { createResolverCounts, resolverGauges } from '../workers/resolve/resolver-context.ts';
import { expect, test } from 'vitest';
import type { Report } from '../threads/messages.ts';
import { createOutcomeCounts } from '../workers/recent/outcome-stats.ts';
import type { ActorFigures } from '../workers/registry.ts';
import { createDispatcherCounts } from '../workers/dispatch/dispatcher-stats.ts';
import { createStatsLedger } from '../supervisor/stats-ledger.ts';
import { showMetrics } from './show-metrics.ts';

type Destinations = { id: string; type: string; name: string }[];

const figures = {
  heapUsedBytes: 1,
  utilization: 0.5,
  delayP99Ms: 1,
  delayMaxMs: 2,
  isLogConnected: true,
  visitorCache: { visitors: 1, bytes: 2, bytesMax: 3, hits: 0, confirmed: 0, misses: 0 },
  outcomes: { ...createOutcomeCounts(), waiting: 0 },
  database: { used: 1, idle: 0, waiting: 0, connectionsMax: 4 },
};

function report(
  actors: readonly ActorFigures[],
  timed = 0,
  own: Partial<typeof figures> = {},
): Extract<Report, { kind: 'stats' }> {
  const numbers = [timed, ...Array.from({ length: 20 }, () => 0)];
  return {
    kind: 'stats',
    actors,
    thread: { ...figures, ...own },
    timings: { HTTPDestination: { dispatchDuration: numbers, eventAge: numbers } },
  };
}

const cache = (hits: number, misses: number): Partial<typeof figures> => ({
  visitorCache: { ...figures.visitorCache, hits, misses },
});

const delivered = (key: string, events: number): ActorFigures<'dispatcher'> => ({
  kind: 'dispatcher',
  key,
  stats: { ...createDispatcherCounts(), delivered: events },
});

function rig(destinations: Destinations, destinationsMax = 10) {
  const stats = createStatsLedger();
  const page = showMetrics({
    stats,
    supervisor: { placed: [], threadsReady: 2 },
    pool: { threads: [], queueSize: 0, completed: 0, utilization: 0 },
    threadsExpected: 2,
    backlog: {
      backlogs: new Map([
        ['dispatcher-a', { frames: 3, events: 30, oldestAtMs: 1, unacknowledged: 1, unacknowledgedMax: 9 }],
        ['resolver-0', { frames: 0, events: 0, oldestAtMs: undefined, unacknowledged: 0, unacknowledgedMax: 9 }],
      ]),
      streams: new Map([
        ['INGEST', { bytes: 5, bytesMax: 10, messages: 1, firstSeq: 1, lastSeq: 1, createdAt: '', serverMs: 0 }],
      ]),
      lostBytes: new Map(),
      retries: new Map(),
      deadLetters: new Map(),
      resolveLagMs: 0,
      looks: { ok: 1, failed: 0 },
      stop: () => Promise.resolve(),
    },
    retention: { removed: new Map(), late: 0 },
    deadLetterQuota: { removed: 0, full: 0 },
    quarantineQuota: { removed: 0, full: 0 },
    connection: { connected: true, reconnects: 0, server: { name: undefined, version: undefined } },
    logServers: { mode: 'fsync', servers: [], answers: new Map() },
    clock: { jumps: 1, lastJumpMs: -3_600_000 },
    configRevision: () => 7,
    unreadable: { count: () => 0 },
    destinationsMax,
    destinations: () => destinations,
  });
  return { stats, page };
}

const http = (...ids: string[]): Destinations =>
  ids.map((id) => ({ id, type: 'HTTPDestination', name: `Partner ${id}` }));
const deliveredLine = (id: string, events: number): string =>
  `sluice_dispatcher_delivered_total{destination_id="${id}"} ${events}\n`;

test('metrics: counts of a thread that died stay, and counts of the next thread are added to them', async () => {
  const { stats, page } = rig(http('a'));
  stats.reported(0, report([delivered('a', 5)], 3, cache(2, 1)));
  stats.reported(1, report([], 1));
  stats.threadDied(0, true);
  stats.ended({ kind: 'dispatcher', key: 'a' }, undefined);
  stats.reported(1, report([delivered('a', 2)], 2, cache(1, 0)));
  const text = await page.text();
  expect(text).toContain(deliveredLine('a', 7));
  expect(text).toContain('sluice_dispatch_duration_seconds_count{destination_type="HTTPDestination"} 5\n');
  expect(text).toContain('sluice_visitor_cache_lookups_total{result="hit"} 3\n');
  expect(text).toContain('sluice_thread_deaths_total 1\n');
  expect(text).toContain('sluice_thread_silent_deaths_total 1\n');
  expect(text).not.toContain('sluice_thread_heap_bytes{thread="0"}');
});

test('metrics: resolver counts by account are summed over partitions, and stay when a resolver ends', async () => {
  const { stats, page } = rig(http('a'));
  const cut = (key: string, counts: Readonly<Record<string, number>>): ActorFigures<'resolver'> => ({
    kind: 'resolver',
    key,
    stats: { ...createResolverCounts(), ...zeros(resolverGauges), ...counts },
  });
  stats.reported(
    0,
    report([cut('0', { 'visitors_cut:x': 2 }), cut('1', { 'visitors_cut:x': 3, 'visitors_cut:y': 1 })]),
  );
  stats.ended({ kind: 'resolver', key: '0' }, undefined);
  const text = await page.text();
  expect(text).toContain('sluice_resolver_account_visitors_cut_total{account_id="x"} 5\n');
  expect(text).toContain('sluice_resolver_account_visitors_cut_total{account_id="y"} 1\n');
});

test('metrics: dispatcher counts by name have a label for the name', async () => {
  const { stats, page } = rig(http('a'));
  stats.reported(
    0,
    report([delivered('a', 1)].map((one) => ({ ...one, stats: { ...one.stats, 'consent_stops:Ads': 2 } }))),
  );
  expect(await page.text()).toContain('sluice_dispatcher_consent_stops_total{destination_id="a",purpose="Ads"} 2\n');
});

test('metrics: every series is shown from the first report, with zero', async () => {
  const { stats, page } = rig(http('a'));
  stats.reported(0, report([delivered('a', 0)]));
  const text = await page.text();
  expect(text).toContain('sluice_dispatcher_attempts_total{destination_id="a",outcome="timeout"} 0\n');
  expect(text).toContain('sluice_dispatcher_dead_letters_total{destination_id="a",reason="exhausted"} 0\n');
  expect(text).toContain('sluice_destination_retries_waiting_frames{destination_id="a"} 0\n');
  expect(text).toContain('sluice_destination_backlog_events{destination_id="a"} 30\n');
});

test('metrics: the series of a removed destination are no longer shown', async () => {
  const destinations = http('a', 'b');
  const { stats, page } = rig(destinations);
  stats.reported(0, report([delivered('a', 1), delivered('b', 2)]));
  expect(await page.text()).toContain(deliveredLine('b', 2));
  destinations.pop();
  expect(await page.text()).not.toContain('destination_id="b"');
  // The dispatcher of b ends a moment after b was deleted.
  stats.ended(delivered('b', 2), delivered('b', 2).stats);
  const text = await page.text();
  expect(text).toContain(deliveredLine('a', 1));
  expect(text).not.toContain('destination_id="b"');
  destinations.push({ id: 'b', type: 'HTTPDestination', name: 'B' });
  stats.reported(0, report([delivered('b', 0)]));
  expect(await page.text()).toContain(deliveredLine('b', 0));
});

test('metrics: destinations beyond the limit are counted in one sum, and that sum never decreases', async () => {
  const destinations = http('a', 'b', 'c');
  const { stats, page } = rig(destinations, 1);
  const all = [delivered('a', 1), delivered('b', 2), delivered('c', 3)];
  stats.reported(0, report(all));
  expect(await page.text()).toContain(deliveredLine('_other', 5));
  destinations.pop();
  stats.ended(delivered('c', 4), delivered('c', 4).stats);
  const text = await page.text();
  expect(text).toContain(deliveredLine('_other', 6));
  expect(text).toMatch(/^sluice_metrics_series_dropped_total [1-9]/m);
  expect(text).not.toContain('destination_id="b"');
});

test('metrics: of destinations beyond the limit the oldest age is shown, and the number of open breakers', async () => {
  const { stats, page } = rig(http('a', 'b', 'c', 'd'), 1);
  const late = (key: string, age: number): ActorFigures<'dispatcher'> => ({
    kind: 'dispatcher',
    key,
    stats: { ...createDispatcherCounts(), undelivered_age_seconds: age, breaker_open: 1 },
  });
  stats.reported(0, report([late('a', 90), late('b', 20), late('c', 25), late('d', 21)]));
  const text = await page.text();
  expect(text).toContain('sluice_dispatcher_undelivered_age_seconds{destination_id="a"} 90\n');
  expect(text).toContain('sluice_dispatcher_undelivered_age_seconds{destination_id="_other"} 25\n');
  expect(text).toContain('sluice_dispatcher_breaker_open{destination_id="_other"} 3\n');
});
