import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { count } from '../../shared/runtime/variables.ts';

const dayMs = 86_400_000;

export const { variables: erasuresEnv, read: readErasureSettings } = defineSettings({
  deadlineMs: fromEnv({
    ERASURE_DEADLINE_MS: count(
      'Time from its request in which an erasure must be done at all destinations. The law allows one month. An alert counts the destinations that are not done, from a week before the end (or the last quarter)',
      30 * dayMs,
      { unit: 'ms', minimum: 60_000 },
    ),
  }),
  forwardAfterMs: fromEnv({
    ERASURE_FORWARD_AFTER_MS: count(
      'Time from its request to the first forwarding of an erasure: longer than a request in flight may take (DISPATCH_TOTAL_TIMEOUT_MS)',
      60_000,
      { unit: 'ms', minimum: 0 },
    ),
  }),
});

export type ErasureSettings = ReturnType<typeof readErasureSettings>;
