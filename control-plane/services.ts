import type { Pool } from 'pg';
import type { Storage } from '../shared/storage/open-storage.ts';
import type { SecretBox } from '../shared/storage/secrets.ts';
import type { LiveValues } from './health/live-values.ts';
import type { Paginator } from './http/pagination.ts';
import type { PushStation } from './push/push-station.ts';
import type { ReplayOffice } from './replay/replay-office.ts';
import type { TrialDesk } from './trial/trial-desk.ts';

/** What endpoints work with. */
export type Services = {
  readonly storage: Storage;
  /** PostgreSQL without the ORM: what the pipeline writes there. */
  readonly pool: Pool;
  readonly secretBox: SecretBox;
  readonly paginator: Paginator;
  readonly liveValues: LiveValues;
  readonly pushStation: PushStation;
  readonly replays: ReplayOffice;
  readonly trials: TrialDesk;
  now(): Date;
};
