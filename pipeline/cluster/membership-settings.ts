import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { count } from '../../shared/runtime/variables.ts';

const silence = {
  PIPELINE_LEASE_SILENT_MS: count(
    'An instance without a renewal of its lease for this long counts as dead, and the other instances take over its actors; it renews four times as often. If it was alive after all, its requests in flight are sent twice; nothing is lost or reordered',
    2_000,
    { unit: 'ms', minimum: 2_000 },
  ),
};

export const { variables: membershipEnv, read: readMembershipTimes } = defineSettings({
  silentForMs: fromEnv(silence),
  /** Half as often while the instance is the only one. */
  renewEveryMs: fromEnv(silence, (env) => env.PIPELINE_LEASE_SILENT_MS / 4),
  handOverMs: fromEnv({
    PIPELINE_HAND_OVER_MS: count(
      'How long an actor may take to stop when it moves to another thread or instance. Requests without an answer by then are sent again by the next one',
      1_500,
      { unit: 'ms', minimum: 0 },
    ),
  }),
});
