import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { count } from '../../shared/runtime/variables.ts';

const dayMs = 86_400_000;

export const { variables: erasuresEnv, read: readErasureSettings } = defineSettings({
  deadlineMs: fromEnv({
    ERASURE_DEADLINE_MS: count(
      'How long after its request an erasure must be done at all destinations. Law allows one month; before it ends, an alert names the erasures that are not done',
      30 * dayMs,
      { unit: 'ms', minimum: 60_000 },
    ),
  }),
  forwardAfterMs: fromEnv({
    ERASURE_FORWARD_AFTER_MS: count(
      'How long after its request an erasure is first forwarded to destinations: longer than a request that was in flight then may take (DISPATCH_TOTAL_TIMEOUT_MS)',
      60_000,
      { unit: 'ms', minimum: 0 },
    ),
  }),
});

export type ErasureSettings = ReturnType<typeof readErasureSettings>;
