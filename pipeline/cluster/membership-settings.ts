import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { count } from '../../shared/runtime/variables.ts';

/**
 * The only instance renews its lease after half of this time, which must be less than the wait of a process that claims
 * an instance id; and no lease may expire before its instance is considered dead.
 */
const silentMaxMs = 8_000;

const silence = {
  PIPELINE_LEASE_SILENT_MS: count(
    'An instance that has not renewed its lease for this long is considered dead, and other instances take over its actors. Leases are renewed four times within this time. If the instance was alive, its requests in flight are sent twice; nothing is lost or reordered',
    2_000,
    { unit: 'ms', minimum: 2_000, maximum: silentMaxMs },
  ),
};

export const { variables: membershipEnv, read: readMembershipTimes } = defineSettings({
  silentForMs: fromEnv(silence),
  /** The interval is twice as long while the instance is the only one. */
  renewEveryMs: fromEnv(silence, (env) => env.PIPELINE_LEASE_SILENT_MS / 4),
  handOverMs: fromEnv({
    PIPELINE_HAND_OVER_MS: count(
      'How long an actor may take to stop when it moves to another thread or instance. Requests not answered by then are sent again from there',
      1_500,
      { unit: 'ms', minimum: 0 },
    ),
  }),
});
