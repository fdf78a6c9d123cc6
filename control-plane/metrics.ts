import { counter, gauge, histogram } from '../shared/runtime/metrics/define-metric.ts';

/** Metrics of the control plane only; every service has the common ones. */
export const controlPlaneMetrics = {
  requests: counter('sluice_control_plane_requests_total', 'Requests answered, by route, method and status', [
    'route',
    'method',
    'code',
  ]),
  requestDuration: histogram(
    'sluice_control_plane_request_duration_seconds',
    'Time from the first byte of a request to the last of its answer',
    [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    ['route', 'method'],
  ),
  refusedConnections: counter(
    'sluice_control_plane_refused_connections_total',
    'Connections refused because the limit of open connections was reached, in total or for one address',
  ),
  refusedRequests: counter(
    'sluice_control_plane_refused_requests_total',
    'Requests refused with a 429 because too many were in flight, by share: account, or address (before their key was looked up)',
    ['share'],
  ),
  waitingRequests: gauge(
    'sluice_control_plane_waiting_requests',
    'Requests that wait for other requests of their account or address, by share: account, address',
    ['share'],
  ),
  refusedExperiments: counter(
    'sluice_experiment_refused_total',
    'Requests for experiments refused, by cost: lookups, assignments, impressions or work (rate limit of the account, 429), or page (the check of one page costs too much work, 400)',
    ['cost'],
  ),
  unstoredAssignments: counter(
    'sluice_experiment_unstored_assignments_total',
    'Assignments that were answered but not stored, because their account has reached its limit',
  ),
  refusedLogins: counter(
    'sluice_control_plane_refused_keys_total',
    'Requests whose API key was refused, by reason: malformed, unknown, wrong-secret, revoked, expired, or not-looked-up (too many keys of its address were refused)',
    ['reason'],
  ),
  isLeader: gauge('sluice_config_leader', '1 in the control plane that moves published versions to the log, else 0'),
  outboxPending: gauge(
    'sluice_outbox_pending_rows',
    'Published changes not yet moved to the log, as seen by the leader',
  ),
  pushFailures: counter('sluice_config_push_failures_total', 'Failed attempts to move published versions to the log'),
  testsRunning: gauge('sluice_destination_tests_running', 'Tests of destinations in progress'),
  erasureAttempts: counter(
    'sluice_erasure_attempts_total',
    'Attempts to have a destination delete an erased visitor, by result',
    ['result'],
  ),
  openErasures: gauge(
    'sluice_erasure_destinations_open',
    'Destinations that have not deleted an erased visitor yet, of all accounts, by state: pending, requested, manual, failed',
    ['state'],
  ),
  dueErasures: gauge(
    'sluice_erasure_destinations_due',
    'Destinations that have not deleted an erased visitor yet, by deadline: soon (within seven days, or a quarter of ERASURE_DEADLINE_MS if that is shorter) or overdue',
    ['when'],
  ),
  tests: counter('sluice_destination_tests_total', 'Tests of destinations, by result', ['outcome']),
};
