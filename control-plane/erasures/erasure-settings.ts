import { requestTimeoutEnv } from '../../shared/egress/request-timeout.ts';
import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { count, derivedCount, usualValueOf } from '../../shared/runtime/variables.ts';

const dayMs = 86_400_000;
const forwardAfterMs = 60_000;

export const { variables: erasuresEnv, read: readErasureSettings } = defineSettings({
  deadlineMs: fromEnv({
    ERASURE_DEADLINE_MS: count(
      'Time after the request for an erasure within which all destinations must have deleted the visitor. The law allows one month. An alert counts the destinations that have not, starting a week before the deadline (or in the last quarter of the time, if that is shorter)',
      30 * dayMs,
      { unit: 'ms', minimum: 60_000 },
    ),
  }),
  forwardAfterMs: fromEnv(
    {
      ...requestTimeoutEnv,
      ERASURE_FORWARD_AFTER_MS: derivedCount(
        'Time from the request for an erasure until destinations are first asked to delete the visitor. At least DISPATCH_TOTAL_TIMEOUT_MS: a request with an earlier event of the visitor may be in flight for so long',
        { usually: forwardAfterMs, orElse: 'DISPATCH_TOTAL_TIMEOUT_MS if that is longer' },
        { unit: 'ms', minimum: 0, problems: shorterThanRequest },
      ),
    },
    (env) => env.ERASURE_FORWARD_AFTER_MS ?? Math.max(forwardAfterMs, env.DISPATCH_TOTAL_TIMEOUT_MS),
  ),
});

export type ErasureSettings = ReturnType<typeof readErasureSettings>;

function shorterThanRequest(value: string, given: Readonly<Record<string, string>>): readonly string[] {
  const requestMs = given['DISPATCH_TOTAL_TIMEOUT_MS'] ?? usualValueOf(requestTimeoutEnv.DISPATCH_TOTAL_TIMEOUT_MS);
  if (!(Number(value) < Number(requestMs))) return [];
  return [
    `is ${value}, less than DISPATCH_TOTAL_TIMEOUT_MS (${String(requestMs)}): a destination could delete a visitor before it has an earlier event`,
  ];
}
