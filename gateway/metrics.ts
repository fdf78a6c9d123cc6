import { Counter, Gauge, Histogram, collectDefaultMetrics } from 'prom-client';
import type { Registry } from 'prom-client';
import type { PublishedSources } from './admission/published-sources.ts';
import type { Door } from './doors/door.ts';
import type { GroupCommit } from './framing/group-commit.ts';
import type { LogGate } from './framing/log-gate.ts';
import type { BodyBudget } from './http/body-budget.ts';
import type { LoadedUws } from './http/uws.ts';

/** What the metrics are read from when they are scraped: the hot path counts in plain numbers of its own. */
export type MetricsSources = {
  readonly doors: readonly Pick<Door, 'name'>[];
  readonly requests: RequestCounts;
  readonly sources: PublishedSources;
  readonly commit: GroupCommit;
  readonly gate: LogGate;
  readonly budget: BodyBudget;
  openRequests(): number;
  configRevision(): number;
};

const codesPerDoor = 600;

/** Requests by door and status. */
export class RequestCounts {
  readonly #counts: Float64Array;

  constructor(doors: number) {
    this.#counts = new Float64Array((doors + 1) * codesPerDoor);
  }

  count(door: number, code: number): void {
    const at = door * codesPerDoor + code;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }

  forEach(visit: (door: number, code: number, requests: number) => void): void {
    this.#counts.forEach((requests, at) => {
      if (requests > 0) visit(Math.floor(at / codesPerDoor), at % codesPerDoor, requests);
    });
  }
}

/** Time from the first byte of a publish to its acknowledgement. */
export function createPublishSeconds(registry: Registry): Histogram {
  return new Histogram({
    name: 'sluice_gateway_publish_seconds',
    help: 'Time until the log acknowledged a frame',
    buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2],
    registers: [registry],
  });
}

/** Registers everything the gateway tells of itself. */
export function registerMetrics(registry: Registry, from: MetricsSources): void {
  collectDefaultMetrics({ register: registry });
  const names = [...from.doors.map((door) => door.name), 'none'];
  counter(registry, 'sluice_gateway_requests_total', 'Requests by route and status', ['route', 'code'], (add) =>
    from.requests.forEach((door, code, requests) =>
      add({ route: names[door] ?? 'none', code: String(code) }, requests),
    ),
  );
  counter(
    registry,
    'sluice_gateway_events_total',
    'Events by type of source and result',
    ['source_type', 'result'],
    (add) => {
      for (const [type, tally] of from.sources.tallies) {
        for (const [result, events] of Object.entries(tally)) add({ source_type: type, result }, events);
      }
    },
  );
  counter(registry, 'sluice_gateway_frames_total', 'Frames sent to the log', ['closed_by'], (add) => {
    add({ closed_by: 'size' }, from.commit.stats.closedBySize);
    add({ closed_by: 'slot' }, from.commit.stats.closedBySlot);
  });
  counter(registry, 'sluice_gateway_frame_bytes_total', 'Bytes of the frames sent', [], (add) =>
    add({}, from.commit.stats.frameBytes),
  );
  counter(registry, 'sluice_gateway_frame_failures_total', 'Frames the log did not take', ['reason'], (add) => {
    for (const [reason, frames] of from.gate.failures) add({ reason }, frames);
    add({ reason: 'expired' }, from.commit.stats.expired);
  });
  gauge(
    registry,
    'sluice_gateway_frames_in_flight',
    'Frames sent and not acknowledged yet',
    () => from.commit.inFlight,
  );
  gauge(registry, 'sluice_gateway_queue_events', 'Events that wait for the log', () => from.commit.queuedEvents);
  gauge(registry, 'sluice_gateway_queue_bytes', 'Bytes that wait for the log', () => from.commit.queuedBytes);
  gauge(registry, 'sluice_gateway_requests_open', 'Requests that wait for their answer', from.openRequests);
  gauge(registry, 'sluice_gateway_body_bytes', 'Bytes of bodies still arriving', () => from.budget.bytes);
  gauge(registry, 'sluice_gateway_source_keys', 'Source keys that are accepted', () => from.sources.keyCount);
  gauge(registry, 'sluice_config_revision', 'Revision of the configuration in force', from.configRevision);
}

/** What runs here: constant, so set once. */
export function setBuildInfo(registry: Registry, uws: LoadedUws, natsVersion: string): void {
  new Gauge({
    name: 'sluice_gateway_build_info',
    help: 'Versions of what runs here',
    labelNames: ['uws_package', 'uws_version', 'node_version', 'nats_server_version'],
    registers: [registry],
  }).set(
    {
      uws_package: uws.packageName,
      uws_version: uws.version,
      node_version: process.versions.node,
      nats_server_version: natsVersion,
    },
    1,
  );
}

type Add = (labels: Readonly<Record<string, string>>, count: number) => void;

function counter(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly string[],
  read: (add: Add) => void,
): void {
  const metric: Counter = new Counter({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    collect() {
      metric.reset();
      read((labels, count) => metric.inc(labels, count));
    },
  });
}

function gauge(registry: Registry, name: string, help: string, read: () => number): void {
  const metric: Gauge = new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      metric.set(read());
    },
  });
}
