import { defineSettings, fromEnv } from '../../../shared/runtime/settings.ts';
import { count } from '../../../shared/runtime/variables.ts';

const age = {
  BACKPRESSURE_AGE_MAX_MS: count(
    "How long the oldest undelivered event of an account may wait. If it waits longer, gateways answer the account's sources with 429. The wait for the resolver and for destinations that accept requests counts; the wait for a destination that is catching up after an outage does not. 0: sources are never held back",
    0,
    { unit: 'ms', minimum: 0 },
  ),
};
/** Shortest (`most`) and longest (`least`) interval between two readings of backlogs from the log, in ms. */
const readEveryMs = { most: 100, least: 5_000 };

export const { variables: backpressureEnv, read: readBackpressureSettings } = defineSettings({
  /** 0 means that no account is held back. */
  ageMaxMs: fromEnv(age),
  /**
   * Interval between readings of backlogs, which include the wait for the resolver: a quarter of the age at which
   * sources are held back, within the limits of `readEveryMs`.
   */
  backlogEveryMs: fromEnv(age, ({ BACKPRESSURE_AGE_MAX_MS: ageMaxMs }) =>
    ageMaxMs === 0 ? readEveryMs.least : Math.max(readEveryMs.most, Math.min(readEveryMs.least, ageMaxMs / 4)),
  ),
  /**
   * Maximum number of accounts in a report, which contains those whose events wait longest; an account takes about 50
   * bytes in LEASES.
   */
  accountsMax: 5_000,
});

export type BackpressureSettings = Omit<ReturnType<typeof readBackpressureSettings>, 'backlogEveryMs'>;
