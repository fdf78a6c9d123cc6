import type { Static, TObject } from 'typebox';
import { count } from '../../shared/runtime/variables.ts';
import type { MembershipTimes } from './membership.ts';

export const membershipEnv = {
  PIPELINE_LEASE_RENEW_MS: count(
    'How often an instance renews its lease; half as often while it is the only one',
    500,
    { unit: 'ms', minimum: 50 },
  ),
  PIPELINE_LEASE_SILENT_MS: count(
    'An instance without a renewal for this long counts as dead, and the other instances take over its actors. At least three times PIPELINE_LEASE_RENEW_MS. If it was alive after all, its requests in flight are sent twice; nothing is lost or reordered',
    2_000,
    { unit: 'ms', minimum: 2_000 },
  ),
  PIPELINE_HAND_OVER_MS: count(
    'How long an actor may take to stop when it moves to another thread or instance. Requests without an answer by then are sent again by the next one',
    1_500,
    { unit: 'ms', minimum: 0 },
  ),
};

type MembershipVariables = Static<TObject<typeof membershipEnv>>;

export function readMembershipTimes(env: MembershipVariables): MembershipTimes {
  return { silentForMs: env.PIPELINE_LEASE_SILENT_MS, handOverMs: env.PIPELINE_HAND_OVER_MS };
}

/** Conflicts between these variables. */
export function membershipProblems(env: MembershipVariables): string[] {
  return env.PIPELINE_LEASE_SILENT_MS < env.PIPELINE_LEASE_RENEW_MS * 3
    ? ['PIPELINE_LEASE_SILENT_MS must be three times PIPELINE_LEASE_RENEW_MS at least']
    : [];
}
