import { recorderCounters, recorderGauges } from '../recent/recorder-context.ts';
import type { CostBudget } from '../../../shared/limits/index.ts';
import type { FramesAtWork, Suspicion } from '../worker/suspicion.ts';
import { zeros } from '../worker/define-worker.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { FrameWriter } from '../../../shared/contracts/events/frame.ts';
import { ByteWriter } from '../../../shared/json/byte-writer.ts';
import { ReusedWriters } from '../../../shared/json/reused-writers.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { VisitorStore } from '../../../shared/visitors/visitor-store.ts';
import type { AccountCounts } from './account-counts.ts';
import type { Deduplication } from './deduplication.ts';
import type { IdentityFigures } from './identity-figures.ts';
import type { PartitionWriter } from './partition-writer.ts';
import type { PersonalData } from './personal-data.ts';
import type { PlanFigures } from './plan-figures.ts';
import type { ResolvePlan } from './resolve-plan.ts';
import type { ResolverSettings } from './resolver-settings.ts';
import type { Withdrawals } from './withdrawals.ts';
import type { VisitorRateLimit } from './visitor-rate-limit.ts';

/** Everything that a resolver counts, by its name in `stats()`. */
export const resolverCounters = {
  frames: 'Ingest frames received',
  redelivered_frames: 'Ingest frames received that had been delivered before',
  lost_frames: 'Times when a frame that the log had acknowledged was missing in INGEST or EVENTS',
  events: 'Events read from ingest frames',
  accounts_parsed: 'Events whose account could not be read alone, so that their whole line was parsed for it',
  events_parsed:
    'Events that were parsed and serialized again, as their bytes could not be copied: properties of a visitor, an unusual spelling',
  resolved: 'Events written to the log of their account',
  duplicates: 'Events dropped because their id was seen within the deduplication window',
  bots_dropped: 'Events dropped by bot control',
  not_allowed_dropped: 'Events dropped because their name is not an allowed event',
  erased_dropped: 'Events dropped because their visitor was erased',
  quarantined: 'Events held by a rule of the tracking plan, until they are released or deleted',
  plan_dropped: 'Events dropped by a rule of the tracking plan',
  plan_changed: 'Events of which a rule of the tracking plan omitted or redacted something',
  plan_errors: 'Times an event broke a rule of the tracking plan whose severity is Error',
  violations_skipped:
    'Violations of tracking plans that are missing in the table of violations: too many groups of violations at a time, or a long outage of the database',
  violation_write_retries: 'Times writing violations to the database failed and was retried',
  plan_units: 'Units of work (characters read or written) that judging events by tracking plans took',
  personal_data_skipped:
    'Values that were not checked for personal data: an account has more than 2,000 properties, a resolver more than 20,000, or an event could not be parsed',
  personal_data_write_failures:
    'Times when storing properties that look personal in the database failed; the findings are lost',
  dead_letters: 'Events or frames that could not be read or stored, kept in the dead-letter log',
  output_frames: 'Frames written to the logs of accounts',
  output_bytes: 'Bytes of the frames written to the logs of accounts, before any compression',
  output_bytes_stored: 'Bytes of the frames written to the logs of accounts, as the log has them',
  visitors_created: 'Visitors created',
  visitors_updated: 'Visitors changed',
  visitors_merged: 'Visitors that were merged into another one',
  visitors_oversized: 'Times properties were left out because the visitor would have become too large',
  people_kept_apart:
    'Times an event named two known people (visitors with an externalId), who stay separate: another person signed in on a device, or a public key sent an alias of them',
  server_values_kept:
    'Identifiers and contact data (external_id, email, phone_number, the person of a userId) that an event of a public key did not overwrite, since a server source has set them',
  identity_counts_skipped:
    'Identifiers and values left out of visitors that are missing in the table of these counts: too many sources at a time, or a long outage of the database',
  identity_write_retries: 'Times writing counts of identifiers to the database failed and was retried',
  user_hashes_refused:
    'Events of a public key whose userHash does not match their identifier; they are accepted like events without a userHash',
  visitors_full:
    'Identifiers and merges left out because 1,000 identifiers (externalIds, e-mail addresses, merged ids) lead to the visitor',
  identifiers_over_limit:
    "E-mail addresses and merges left out because the visitor has as many e-mail addresses or userIds as the account's identity settings allow",
  placeholder_identifiers:
    'Placeholder identifiers (undefined, null, 0, anonymous and the like, and those that the account blocks) that were left out of accepted events',
  visitors_cut:
    'Visitors over 8 KiB that were cut short in resolved events, because their account had sent too few bytes for whole ones; by account in sluice_resolver_account_visitors_cut_total',
  publish_retries: 'Times a write to the log was retried',
  checkpoints: 'Checkpoints of deduplication written, from which a start learns which events were resolved',
  checkpoint_failures: 'Times the log did not store a checkpoint; the next start then has to read more',
  visitor_retries: 'Times reading or writing visitors failed and was retried',
  visitor_failures:
    'Times when the database failed for visitors of one account only; the statements of that account then run apart from other accounts',
  queued_bytes:
    'Bytes of accepted events that were copied into the queue of their account, because the account had more than its part waiting',
  ...recorderCounters,
} as const;

/** Counters that have a value for each account. */
export const resolverAccountCounters = {
  identity_left_out:
    'Identifiers, values and merges of events that were not applied to their visitors, for any reason; GET /rest/v1/identity-counts has them by source and reason',
  visitors_full: 'Identifiers and merges left out because 1,000 identifiers lead to the visitor',
  visitors_cut:
    'Visitors over 8 KiB that were cut short in resolved events, because the account had sent too few bytes for whole ones; what its live version reads of them is never cut',
} as const;

/** Counters that have a value for each source, or for each rule. */
export const resolverNamedCounters = {
  source_identity_left_out: {
    help: 'Identifiers, values and merges of events that were not applied to their visitors, by source',
    label: 'source_id',
  },
  plan_hits: {
    help: 'Events that broke a rule of a tracking plan, by the id of the rule; unknown-event, unknown-property, deprecated-event and too-costly are rules of every plan',
    label: 'rule',
  },
} as const;

/** Gauges that have a value for each account, until the account has no queue any more. */
export const resolverAccountGauges = {
  queue_bytes:
    'Bytes of accepted events of an account that wait in its queue in INGEST; they count towards the quota of the account there',
} as const;

export const resolverGauges = {
  deduplication_ids: 'Event ids held for deduplication',
  deduplication_bytes: 'Memory of the deduplication table',
  accounts_apart:
    'Accounts for whose visitors the database last failed: their statements take turns, apart from other accounts',
  accounts_queued:
    'Accounts with so many accepted events that these wait in a queue of their own in INGEST, so that other accounts do not wait for them',
  accounts_writing: 'Accounts whose new or changed visitors are being written; their events wait for that',
  checkpoint_ids_waiting: 'Event ids that no checkpoint has yet; a start has to read the frames they are in',
  rebuild_seconds: 'How long the start of the resolver took to fill the deduplication table',
  rebuild_frames: 'Frames of EVENTS the start of the resolver had to read, because no checkpoint had their ids',
  deduplication_window_seconds: 'How far back a repeated event is recognised for certain',
  ...recorderGauges,
} as const;

type ResolverCounter = keyof typeof resolverCounters;
export type ResolverGauge = keyof typeof resolverGauges;
export type ResolverStat = ResolverCounter | ResolverGauge;

/** Counters of one resolver since it started. */
export type ResolverCounts = Record<ResolverCounter, number>;

export const createResolverCounts = (): ResolverCounts => zeros(resolverCounters);

/** What the steps of one resolver share. */
export type ResolverContext = {
  readonly partition: number;
  readonly connection: LogConnection;
  readonly visitors: Pick<VisitorStore, 'resolve' | 'lookUp' | 'distrust'>;
  /** Announces withdrawals of consent that events state. */
  readonly withdrawals: Withdrawals;
  readonly plans: (accountId: string) => ResolvePlan | undefined;
  /** Whether no other account has a live version. */
  readonly isOnlyAccount: (accountId: string) => boolean;
  readonly settings: ResolverSettings;
  readonly logger: Logger;
  readonly deduplication: Deduplication;
  /** Writes all that the resolver stores in the log. */
  readonly writer: PartitionWriter;
  readonly visitorLimit: VisitorRateLimit;
  /** Number of visitors that were shortened, by account. */
  readonly visitorsCut: AccountCounts;
  /** Number of identifiers that were refused because their visitor has the maximum number, by account. */
  readonly visitorsFull: AccountCounts;
  /** Number of refused identifiers and merges, by source and reason. */
  readonly identity: IdentityFigures;
  readonly plan: PlanFigures;
  /** Finds properties that look personal. */
  readonly personalData: PersonalData;
  /** The thread's cost budget, which is informed of accounts that are active. */
  readonly costBudget: Pick<CostBudget, 'recordActivity'>;
  readonly counts: ResolverCounts;
  /** Buffers that hold the JSON of a batch's events until it is copied to frames. */
  readonly eventWriters: ReusedWriters<ByteWriter>;
  readonly frameWriters: ReusedWriters<FrameWriter>;
  /** Aborted when the resolver must end at once. */
  readonly signal: AbortSignal;
  /** Marks the start of each piece of the resolver's work as the actor's turn: see the thread's black box. */
  beginTurn(frames?: FramesAtWork): void;
  /** Frames that are suspected because an earlier actor ended, with its thread, while it worked on them. */
  readonly suspicion: Suspicion;
};

const firstBytes = 16 * 1024;
/** Larger buffers are not kept for reuse; a usual batch needs half of this. */
const keptBytesMax = 1024 ** 2;
/**
 * Maximum number of buffers kept for reuse. More are in use while batches wait for the database or have events of many
 * accounts.
 */
const keptMax = 4;

/** The buffers that one resolver works with. */
export function createWriters(): Pick<ResolverContext, 'eventWriters' | 'frameWriters'> {
  const limits = { bytesMax: keptBytesMax, keptMax };
  return {
    eventWriters: new ReusedWriters({ ...limits, make: () => new ByteWriter(firstBytes) }),
    frameWriters: new ReusedWriters({ ...limits, make: () => new FrameWriter(firstBytes / 4) }),
  };
}
