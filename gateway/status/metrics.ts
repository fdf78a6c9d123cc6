import { counter, gauge, histogram } from '../../shared/runtime/metrics/define-metric.ts';

const requestBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const publishBounds = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2];

/** Metrics of the gateway only; every service has the common ones. */
export const gatewayMetrics = {
  requests: counter(
    'sluice_gateway_requests_total',
    'Requests answered, by route and status; 499 if the client disconnected',
    ['route', 'code'],
  ),
  requestDuration: histogram(
    'sluice_gateway_request_duration_seconds',
    'Time from the head of a request to its answer, which waits for the log',
    requestBounds,
    ['route'],
  ),
  requestsOpen: gauge('sluice_gateway_requests_open', 'Requests that wait for their answer'),
  connections: gauge('sluice_gateway_connections', 'Connections of clients, idle ones included'),
  refusedConnections: counter(
    'sluice_gateway_refused_connections_total',
    'Connections refused because the limit of open connections was reached',
  ),
  refusedRequests: counter(
    'sluice_gateway_refused_requests_total',
    'Requests refused before authentication, at a limit of their address or of all addresses: requests in flight (429), arriving bodies (503), decompression (503)',
    ['share'],
  ),
  bodyBytes: gauge('sluice_gateway_body_bytes', 'Bytes of bodies still arriving'),
  bodyBytesLimit: gauge('sluice_gateway_body_limit_bytes', 'Bytes of bodies that may be arriving at a time'),
  events: counter(
    'sluice_gateway_events_total',
    'Events by type of source and result: stored, lost (the log refused it: 503), invalid, limited (over the rate limit of its key: 429), backpressure (events of its account wait too long, or exceed its quota of INGEST: 429), forbidden (from an address its source does not allow, or unsigned: 403)',
    ['source_type', 'result'],
  ),
  mendedBodies: counter(
    'sluice_gateway_mended_bodies_total',
    'Bodies of libraries of other services that contained NaN or Infinity, which are not JSON and were read as null',
  ),
  backpressureAccounts: gauge(
    'sluice_gateway_backpressure_accounts',
    'Accounts whose sources are answered 429 because their events wait too long, or exceed their quota of INGEST',
  ),
  sourceKeys: gauge('sluice_gateway_source_keys', 'Source keys that are accepted'),
  frames: counter(
    'sluice_gateway_frames_total',
    'Frames sent to the log, by reason for closing: round (no frame was in flight), linger (the waiting time was over), size (the frame was full)',
    ['closed_by'],
  ),
  frameBytes: counter('sluice_gateway_frame_bytes_total', 'Bytes of the frames sent'),
  frameEvents: counter('sluice_gateway_frame_events_total', 'Events in the frames sent'),
  frameFailures: counter('sluice_gateway_frame_failures_total', 'Frames that the log refused, by reason', ['reason']),
  publishDuration: histogram(
    'sluice_gateway_publish_duration_seconds',
    'Time until the log had a frame on disk and acknowledged it',
    publishBounds,
  ),
  roundDistance: gauge(
    'sluice_gateway_round_distance_seconds',
    'Current time between two small rounds of frames: FRAME_ROUND_MS, up to 25 ms if the process waits for CPU',
  ),
  framesInFlight: gauge('sluice_gateway_frames_in_flight', 'Frames sent and not acknowledged yet'),
  framesInFlightLimit: gauge('sluice_gateway_frames_in_flight_limit', 'Frames that may be in flight at a time'),
  queueEvents: gauge('sluice_gateway_queue_events', 'Events that wait for the log or are on their way to it'),
  queueEventsLimit: gauge(
    'sluice_gateway_queue_limit_events',
    'Events that may wait, of one account half; more are refused',
  ),
  queueBytes: gauge('sluice_gateway_queue_bytes', 'Bytes that wait for the log or are on their way to it'),
  queueBytesLimit: gauge(
    'sluice_gateway_queue_limit_bytes',
    'Bytes that may wait, of one account half; more are refused',
  ),
  engineInfo: gauge('sluice_gateway_engine_info', 'Always 1; the labels name the build of the HTTP engine', [
    'package',
    'version',
  ]),
};
