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
  /** Undefined if no live version has the destination. */
  readonly accountId: string | undefined;
  readonly messages: number;
  readonly meanBytes: number;
};

export type DeadLetterQuotaLimits = {
  /** Maximum bytes of all dead letters, and of those of one account. */
  readonly capacity: number;
  readonly accountMax: number;
};

/** How many of its newest dead letters a destination keeps. */
export type KeptLetters = { readonly destinationId: string; readonly keep: number };

/**
 * The destinations whose oldest dead letters are removed, and how many each keeps: first destinations without a live version,
 * then those of accounts over their quota, and within an account those with the most bytes. Pure.
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
  /** Dead letters removed so far to make room. */
  readonly removed: number;
  /** Number of destinations that lost dead letters in the last check. */
  readonly full: number;
};

/** Sizes are read for this many destinations, those with the most letters. For others the average size is assumed. */
const sampledMax = 64;

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

/** The quota of quarantined events, by rule and partition instead of destination. */
export const createQuarantineQuota = (connection: LogConnection, settings: QuotaSettings): DeadLetterQuota =>
  createQuota(connection, settings, quarantined, (subject) => readQuarantineSubject(subject).accountId);

/**
 * The quota of dead letters: of destinations, and of ingest by account and partition. `accountOf` returns
 * the account whose live version has a destination. Letters of ingest without an account are deleted first.
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

function createQuota(
  connection: LogConnection,
  settings: QuotaSettings,
  { stream, filter, keyOf, subjectOf }: SharedStream,
  accountOf: (key: string) => string | undefined,
): DeadLetterQuota {
  const sizes = createMeanSizes(connection, stream);
  let [removed, full] = [0, 0];
  const measure = async (
    messages: ReadonlyMap<string, number>,
    { bytes, firstSeq, lastSeq }: { readonly bytes: number; readonly firstSeq: number; readonly lastSeq: number },
  ): Promise<DeadLettersOf[]> => {
    const bySize = [...messages].toSorted(([, a], [, b]) => b - a);
    sizes.keep(new Set(messages.keys()));
    const all = bySize.reduce((sum, [, count]) => sum + count, 0);
    const held: DeadLettersOf[] = [];
    for (const [index, [subject, count]] of bySize.entries()) {
      const destinationId = keyOf(subject);
      const sampled = index < sampledMax ? await sizes.look(subject, firstSeq, lastSeq + 1) : undefined;
      const meanBytes = Math.max(1, sampled ?? bytes / all);
      held.push({ destinationId, accountId: accountOf(destinationId), messages: count, meanBytes });
    }
    // Scaled so that the estimated sizes add up to the size of the stream.
    const scale = bytes / held.reduce((sum, one) => sum + one.messages * one.meanBytes, 0);
    return held.map((one) => ({ ...one, meanBytes: one.meanBytes * scale }));
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
      const tooMany = lettersOverQuota(await measure(messages, state), limits);
      for (const { destinationId, keep } of tooMany) {
        removed += await keepNewest(connection, stream, subjectOf(destinationId), keep);
      }
      full = tooMany.length;
    },
  };
}
