import { history } from '../../../shared/nats/streams/history-settings.ts';
import { quotaEnv, readQuotaSettings } from '../../../shared/limits/index.ts';
import { defineSettings, fromEnv } from '../../../shared/runtime/settings.ts';
import { count } from '../../../shared/runtime/variables.ts';

export const { variables: retentionEnv, read: readRetentionSettings } = defineSettings({
  everyMs: fromEnv({
    RETENTION_EVERY_MS: count('How often finished events are removed from the log', 10_000, {
      unit: 'ms',
      minimum: 100,
    }),
  }),
  ...history,
  quotas: fromEnv(quotaEnv, readQuotaSettings),
  /** Shares of the limit of EVENTS: above `high`, history is removed until the stream has shrunk to `low`. */
  marks: { high: 0.7, low: 0.6 },
});

export type RetentionSettings = ReturnType<typeof readRetentionSettings>;
