import type { Static, TObject } from 'typebox';
import { historyEnv } from '../../../shared/nats/streams/history-settings.ts';
import { count } from '../../../shared/runtime/variables.ts';
import { readQuotaSettings } from '../../../shared/limits/index.ts';
import type { quotaEnv } from '../../../shared/limits/index.ts';
import type { RetentionSettings } from './retention.ts';

export const retentionEnv = {
  RETENTION_EVERY_MS: count('How often finished events are removed from the log', 10_000, { unit: 'ms', minimum: 100 }),
  ...historyEnv,
  RETENTION_HIGH_PERCENT: count('Share of LOG_EVENTS_BYTES_MAX above which history is removed', 70, {
    unit: '%',
    maximum: 99,
  }),
  RETENTION_LOW_PERCENT: count('Share of LOG_EVENTS_BYTES_MAX at which that stops. Below RETENTION_HIGH_PERCENT', 60, {
    unit: '%',
    minimum: 0,
    maximum: 98,
  }),
};

type RetentionVariables = Static<TObject<typeof retentionEnv & typeof quotaEnv>>;

export function readRetentionSettings(env: RetentionVariables): RetentionSettings {
  return {
    everyMs: env.RETENTION_EVERY_MS,
    historyMs: env.RETENTION_HISTORY_MS,
    waitingMs: env.RETENTION_WAITING_MS,
    quotas: readQuotaSettings(env),
    marks: { high: env.RETENTION_HIGH_PERCENT / 100, low: env.RETENTION_LOW_PERCENT / 100 },
  };
}

/** What is wrong between these variables. */
export function retentionProblems(env: RetentionVariables): string[] {
  return env.RETENTION_LOW_PERCENT >= env.RETENTION_HIGH_PERCENT
    ? ['RETENTION_LOW_PERCENT must be below RETENTION_HIGH_PERCENT']
    : [];
}
