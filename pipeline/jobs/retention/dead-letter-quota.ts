import { fairLevel, fairLimits, keptOfQuota } from '../../../shared/limits/index.ts';
import type { QuotaSettings } from '../../../shared/limits/index.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { keepNewest } from '../../../shared/nats/messages/subject-log.ts';
import { readSubjects } from '../../../shared/nats/streams/stream-progress.ts';
import {
  allDeadLetters,
  allIngestDeadLetters,
  allQuarantined,
  deadLetterSubject,
  destinationOfDeadLetters,
  readIngestDeadLetterSubject,
  readQuarantineSubject,
} from '../../../shared/contracts/subjects.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { createMeanSizes } from './mean-sizes.ts';

/** The dead letters of one destination. */
export type DeadLettersOf = {
  readonly destinationId: string;
  /** Undefined if no account's live version has the destination. */
  readonly accountId: string | undefined;
  readonly messages: number;
  readonly meanBytes: number;
};

export type DeadLetterQuotaLimits = {
  /** Maximum bytes of all dead letters (`capacity`), and of the dead letters of one account (`accountMax`). */
  readonly capacity: number;
  readonly accountMax: number;
};

/** How many of its newest dead letters a destination keeps. */
export type KeptLetters = { readonly destinationId: string; readonly keep: number };

/**
 * Returns the destinations whose oldest dead letters are to be removed, and how many letters each keeps. Destinations
 * without a live version lose letters first, then accounts over their quota; within an account, the
 * destinations with the most bytes. Pure.
 */
export function lettersOverQuota(held: readonly DeadLettersOf[], limits: DeadLetterQuotaLimits): KeptLetters[] {
  const bytesOf = ({ messages, meanBytes }: DeadLettersOf): number => messages * meanBytes;
  const holdings = new Map<string, Map<string, number>>();
  for (const one of held) {
    if (one.accountId === undefined) continue;
    const own = holdings.get(one.accountId) ?? new Map<string, number>();
    holdings.set(one.accountId, own.set(one.destinationId, bytesOf(one)));
  }
  const maxima = fairLimits(holdings, limits);
  const live = held.filter(({ accountId }) => accountId !== undefined);
  const gone = held.filter(({ accountId }) => accountId === undefined);
  const keptByLive = live.reduce(
    (sum, one) => sum + Math.min(bytesOf(one), maxima.get(one.destinationId) ?? Infinity),
    0,
  );
  const level = fairLevel(gone.map(bytesOf), limits.capacity - keptByLive);
  return held.flatMap((one) => {
    const max = one.accountId === undefined ? level : (maxima.get(one.destinationId) ?? Infinity);
    if (bytesOf(one) <= max) return [];
    return [{ destinationId: one.destinationId, keep: Math.floor(keptOfQuota(max) / one.meanBytes) }];
  });
}

export type DeadLetterQuota = {
  /** Checks once, and removes the excess. */
  look(): Promise<void>;
  /** Number of dead letters removed so far to make room. */
  readonly removed: number;
  /** Number of destinations that lost dead letters in the last check. */
  readonly full: number;
};

/**
 * Maximum number of destinations whose letters are sampled to find those over a quota; destinations with the most
 * letters come first.
 */
const sampledMax = 64;
/** Letters sampled of a destination before any are removed, so that a few large ones do not decide the estimate. */
const samplesBeforeRemoval = 32;
/** Maximum number of destinations that lose letters in one check. */
const removedFromMax = 256;

/** A stream that is divided among accounts, and how its subjects map to keys. */
type SharedStream = {
  readonly stream: string;
  readonly filter: string;
  keyOf(subject: string): string;
  subjectOf(key: string): string;
};

const deadLetters: SharedStream = {
  stream: streams.deadLetters,
  filter: allDeadLetters,
  keyOf: destinationOfDeadLetters,
  subjectOf: deadLetterSubject,
};
const quarantined: SharedStream = {
  stream: streams.quarantine,
  filter: allQuarantined,
  keyOf: (subject) => subject,
  subjectOf: (key) => key,
};

const ingestDeadLetters: SharedStream = {
  stream: streams.ingestDeadLetters,
  filter: allIngestDeadLetters,
  keyOf: (subject) => subject,
  subjectOf: (key) => key,
};

/** The quota of quarantined events, which counts by rule and partition instead of by destination. */
export const createQuarantineQuota = (connection: LogConnection, settings: QuotaSettings): DeadLetterQuota =>
  createQuota(connection, settings, quarantined, (subject) => readQuarantineSubject(subject).accountId);

/**
 * The quota of dead letters of destinations, and of ingest by account and partition. `accountOf` returns the account
 * whose live version has a destination. Letters of ingest without an account are removed first.
 */
export function createDeadLetterQuota(
  connection: LogConnection,
  settings: QuotaSettings,
  accountOf: (destinationId: string) => string | undefined,
): DeadLetterQuota {
  const quotas = [
    createQuota(connection, settings, deadLetters, accountOf),
    createQuota(connection, settings, ingestDeadLetters, (subject) => readIngestDeadLetterSubject(subject).accountId),
  ];
  return {
    get removed() {
      return quotas.reduce((sum, { removed }) => sum + removed, 0);
    },
    get full() {
      return quotas.reduce((sum, { full }) => sum + full, 0);
    },
    async look() {
      for (const quota of quotas) await quota.look();
    },
  };
}

/** Number of messages by subject. */
type Messages = ReadonlyMap<string, number>;
type SubjectsState = { readonly bytes: number; readonly firstSeq: number; readonly lastSeq: number };

function createQuota(
  connection: LogConnection,
  settings: QuotaSettings,
  { stream, filter, keyOf, subjectOf }: SharedStream,
  accountOf: (key: string) => string | undefined,
): DeadLetterQuota {
  const sizes = createMeanSizes(connection, stream);
  let [removed, full] = [0, 0];
  const sample = (subject: string, { firstSeq, lastSeq }: SubjectsState, samples?: number) =>
    sizes.look(subject, firstSeq, lastSeq + 1, samples);
  /** Mean sizes by subject; contains only the subjects that were sampled. */
  const sampleMeans = async (messages: Messages, state: SubjectsState): Promise<Map<string, number>> => {
    sizes.keep(new Set(messages.keys()));
    const means = new Map<string, number>();
    const bySize = [...messages].toSorted(([, a], [, b]) => b - a);
    for (const [subject] of bySize.slice(0, sampledMax)) {
      const mean = await sample(subject, state);
      if (mean !== undefined) means.set(subject, mean);
    }
    return means;
  };
  /**
   * Estimates what each destination holds. A destination without samples gets the stream's mean size; the results are
   * scaled so that they add up to the size of the stream.
   */
  const heldOf = (messages: Messages, means: ReadonlyMap<string, number>, bytes: number): DeadLettersOf[] => {
    const all = [...messages.values()].reduce((sum, count) => sum + count, 0);
    const held = [...messages].map(([subject, count]) => {
      const destinationId = keyOf(subject);
      const meanBytes = Math.max(1, means.get(subject) ?? bytes / all);
      return { destinationId, accountId: accountOf(destinationId), messages: count, meanBytes };
    });
    const scale = bytes / held.reduce((sum, one) => sum + one.messages * one.meanBytes, 0);
    return held.map((one) => ({ ...one, meanBytes: one.meanBytes * scale }));
  };
  /** The destinations over their quota. Before a destination counts as over, more of its letters are sampled. */
  const findOver = async (
    messages: Messages,
    state: SubjectsState,
    limits: DeadLetterQuotaLimits,
  ): Promise<KeptLetters[]> => {
    const means = await sampleMeans(messages, state);
    const certain = new Set<string>();
    for (;;) {
      const over = lettersOverQuota(heldOf(messages, means, state.bytes), limits);
      const uncertain = over.filter(({ destinationId }) => !certain.has(destinationId));
      const next = uncertain.slice(0, removedFromMax - certain.size);
      if (next.length === 0) return over.filter(({ destinationId }) => certain.has(destinationId));
      for (const { destinationId } of next) {
        const subject = subjectOf(destinationId);
        const mean = await sample(subject, state, samplesBeforeRemoval);
        if (mean !== undefined) means.set(subject, mean);
        certain.add(destinationId);
      }
    }
  };
  return {
    get removed() {
      return removed;
    },
    get full() {
      return full;
    },
    async look() {
      const { state, messages } = await readSubjects(connection, stream, filter);
      const { bytes, bytesMax } = state;
      const limits =
        bytesMax === undefined
          ? undefined
          : { capacity: bytesMax * settings.all, accountMax: bytesMax * settings.account };
      if (limits === undefined || bytes <= Math.min(limits.capacity, limits.accountMax)) {
        full = 0;
        return;
      }
      const tooMany = await findOver(messages, state, limits);
      for (const { destinationId, keep } of tooMany) {
        removed += await keepNewest(connection, stream, subjectOf(destinationId), keep);
      }
      full = tooMany.length;
    },
  };
}
