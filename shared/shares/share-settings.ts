import type { Static, TObject } from 'typebox';
import { count } from '../runtime/variables.ts';

/** How the stores that all accounts share are divided. */
export const sharesEnv = {
  LOG_ACCOUNT_SHARE_PERCENT: count(
    'Quota of one account in each shared store, however much room there is: in INGEST its unresolved events, past which its sources are answered 429; in EVENTS what waits for its destinations; in RETRY and DEAD_LETTERS all it has there. 100 where there is one account',
    50,
    { unit: '%', minimum: 1, maximum: 100 },
  ),
  LOG_SHARES_PERCENT: count(
    'How full INGEST, RETRY and DEAD_LETTERS may become with what accounts have there; above it those that have most give way. The rest is for those that have little',
    70,
    { unit: '%', minimum: 1, maximum: 95 },
  ),
};

export type ShareSettings = {
  /** Of a store, from 0 to 1, for one account. */
  readonly account: number;
  /** Of a store, from 0 to 1, for all of them. */
  readonly all: number;
};

export function readShareSettings(env: Static<TObject<typeof sharesEnv>>): ShareSettings {
  return { account: env.LOG_ACCOUNT_SHARE_PERCENT / 100, all: env.LOG_SHARES_PERCENT / 100 };
}
