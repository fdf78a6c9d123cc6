import { expect, test } from 'vitest';
import { BucketCounts } from '../../shared/runtime/metrics/bucket-counts.ts';
import { MetricsPage } from '../../shared/runtime/metrics/metrics-page.ts';
import { PublishedSources } from '../ingest/published-sources.ts';
import { GroupCommit } from '../commit/group-commit.ts';
import { LogGate } from '../commit/log-gate.ts';
import { BodyBudget } from '../http/incoming-body.ts';
import { loadUws } from '../http/uws.ts';
import { gatewayMetrics } from './metrics.ts';
import { RequestCounts } from './request-counts.ts';
import { showMetrics } from './show-metrics.ts';

const commitSettings = {
  partitions: 1,
  frameBytesMax: 100,
  frameLingerMs: 0,
  roundBytes: 0,
  framesInFlightMax: 2,
  queueEventsMax: 10,
  queueBytesMax: 1_000,
  deadlineMs: 1_000,
};

function rig() {
  const gate = new LogGate(() => true);
  const commit = new GroupCommit(commitSettings, { msAt: () => 0 }, gate, () => Promise.resolve('stored'));
  commit.stop();
  const requests = new RequestCounts(2);
  const publishTimes = new BucketCounts(gatewayMetrics.publishDuration.bounds);
  const page = new MetricsPage();
  showMetrics(page, {
    routes: [{ name: 'track' }, { name: 'batch' }],
    requests,
    compatCounts: { mended: 2 },
    sources: new PublishedSources({ eventsPerS: 1, bytesPerS: 1, burstS: 1 }, () => undefined),
    backpressure: { accounts: 2 },
    commit,
    commitSettings,
    pace: { msAt: () => 12.5 },
    publishTimes,
    gate,
    limits: {
      requests: { refused: 4 },
      bodies: new BodyBudget({ bytesMax: 500, bytesOfAddressMax: 500, addressOf: () => '' }),
      unpacking: { refused: 0 },
    },
    uws: loadUws(),
    server: { open: 3, connections: 5, refusedConnections: 0 },
  });
  return { page, requests, gate, commit };
}

test('gateway metrics: every series is shown from the start, with zero if nothing was counted', async () => {
  const text = await rig().page.text();
  for (const series of [
    'sluice_gateway_requests_total{route="track",code="503"} 0',
    'sluice_gateway_events_total{source_type="WebSource",result="lost"} 0',
    'sluice_gateway_frame_failures_total{reason="full"} 0',
    'sluice_gateway_frames_total{closed_by="linger"} 0',
    'sluice_gateway_publish_duration_seconds_count 0',
    'sluice_gateway_events_total{source_type="WebSource",result="backpressure"} 0',
    'sluice_gateway_backpressure_accounts 2',
    'sluice_gateway_mended_bodies_total 2',
    'sluice_gateway_refused_requests_total{share="requests"} 4',
    'sluice_gateway_refused_requests_total{share="unpacking"} 0',
  ]) {
    expect(text).toContain(`${series}\n`);
  }
});

test('gateway metrics: requests and their times are shown by route and status, including requests for an unknown route', async () => {
  const { page, requests } = rig();
  requests.count(1, 207, 4);
  requests.count(1, 207, 40);
  requests.count(2, 404, 1);
  const text = await page.text();
  expect(text).toContain('sluice_gateway_requests_total{route="batch",code="207"} 2\n');
  expect(text).toContain('sluice_gateway_requests_total{route="none",code="404"} 1\n');
  expect(text).toContain('sluice_gateway_request_duration_seconds_bucket{le="0.005",route="batch"} 1\n');
  expect(text).toContain('sluice_gateway_request_duration_seconds_count{route="batch"} 2\n');
  expect(text).not.toContain('code="207",route="track"');
});

test('gateway metrics: frames that the log did not accept are shown by reason, and limits are shown too', async () => {
  const { page, gate } = rig();
  gate.noteFailure('full');
  gate.noteFailure('full');
  const text = await page.text();
  expect(text).toContain('sluice_gateway_frame_failures_total{reason="full"} 2\n');
  expect(text).toContain('sluice_gateway_queue_limit_events 10\n');
  expect(text).toContain('sluice_gateway_round_distance_seconds 0.0125\n');
  expect(text).toContain('sluice_gateway_body_limit_bytes 500\n');
  expect(text).toContain('sluice_gateway_requests_open 3\n');
  expect(text).toContain('sluice_gateway_connections 5\n');
});
