import { defineSettings, fromEnv } from '../../runtime/settings.ts';
import { count } from '../../runtime/variables.ts';

const dayMs = 86_400_000;

/** Shared by the pipeline, which removes events, and the control plane, which shows how long they are kept. */
export const history = {
  historyMs: fromEnv({
    RETENTION_HISTORY_MS: count(
      'How long resolved events are kept for replay, while there is room. The same for pipelines and control planes: certificates of erasures state it',
      7 * dayMs,
      {
        unit: 'ms',
        minimum: 1_000,
      },
    ),
  }),
  waitingMs: fromEnv({
    RETENTION_WAITING_MS: count(
      'How long resolved events wait for a destination that does not accept them. Then the destination skips them; the range is recorded with its health and can be replayed while history is kept. The same for pipelines and control planes',
      3 * dayMs,
      { unit: 'ms', minimum: 60_000 },
    ),
  }),
};

export const { variables: historyEnv, read: readHistorySettings } = defineSettings(history);
