import type { Static, TObject } from 'typebox';
import { count } from '../../../shared/runtime/variables.ts';

export const backpressureEnv = {
  BACKPRESSURE_AGE_MAX_MS: count(
    "How long the oldest undelivered event of an account may wait: past it gateways answer that account's sources 429 until it waits less. What counts is the wait for the resolver, and for those destinations that can be sent to and have kept up since they could. 0: sources are never held back",
    0,
    { unit: 'ms', minimum: 0 },
  ),
  BACKPRESSURE_ACCOUNTS_MAX: count(
    'Accounts that a pipeline can have held back at a time, those whose events wait longest; about 50 bytes each in LEASES',
    5_000,
    { maximum: 10_000 },
  ),
};

export type BackpressureSettings = {
  /** 0: nobody is held back. */
  readonly ageMaxMs: number;
  readonly accountsMax: number;
};

export function readBackpressureSettings(env: Static<TObject<typeof backpressureEnv>>): BackpressureSettings {
  return { ageMaxMs: env.BACKPRESSURE_AGE_MAX_MS, accountsMax: env.BACKPRESSURE_ACCOUNTS_MAX };
}
