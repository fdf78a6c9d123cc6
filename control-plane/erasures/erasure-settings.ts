import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { count } from '../../shared/runtime/variables.ts';

const dayMs = 86_400_000;

export const { variables: erasuresEnv, read: readErasureSettings } = defineSettings({
  deadlineMs: fromEnv({
    ERASURE_DEADLINE_MS: count(
      'Time after the request for an erasure within which all destinations must have deleted the visitor. The law allows one month. An alert counts the destinations that have not, starting a week before the deadline (or in the last quarter of the time, if that is shorter)',
      30 * dayMs,
      { unit: 'ms', minimum: 60_000 },
    ),
  }),
  forwardAfterMs: fromEnv({
    ERASURE_FORWARD_AFTER_MS: count(
      'Time from the request for an erasure until destinations are first asked to delete the visitor. Keep it longer than a request in flight may take (DISPATCH_TOTAL_TIMEOUT_MS)',
      60_000,
      { unit: 'ms', minimum: 0 },
    ),
  }),
});

export type ErasureSettings = ReturnType<typeof readErasureSettings>;
