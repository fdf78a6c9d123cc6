import { erasureHoldsWithinMs } from '../../../shared/nats/erasures/follow-erasures.ts';
import type { LedgerEntry, Refusal } from './ledger.ts';

/** An event in a request that a destination answered with 2xx: it counts as received even if the answer was lost. */
export type Arrival = {
  readonly visitor: number;
  readonly number: number;
  /** Idempotency-Key of the request. */
  readonly key: string;
  readonly atMs: number;
  /** Digests of the marks of the event and of the person; see marks.ts. */
  readonly event: string;
  readonly person: string;
};

/** A destination with all events that it received. Its mapping, live since `liveMs`, stops every event. */
export type Stop = { readonly liveMs: number; readonly arrivals: readonly Arrival[] };

/** An erased visitor that sent no event afterwards. */
export type Erasure = {
  readonly visitor: number;
  readonly erasedMs: number;
  /** Events that arrived at a destination used only for this check. */
  readonly arrivals: readonly Arrival[];
};

/** A visitor that withdrew consent to the purpose of one destination and did not grant it again. */
export type Withdrawal = {
  readonly visitor: number;
  /**
   * Time at which the withdrawal was live: an event sent after the withdrawal had been delivered to another
   * destination.
   */
  readonly liveMs: number;
  /** Events that arrived at the destination that serves the purpose. */
  readonly arrivals: readonly Arrival[];
};

export type Evidence = {
  readonly entries: readonly LedgerEntry[];
  readonly refusals: readonly Refusal[];
  readonly answers: readonly { readonly sentMs: number; readonly atMs: number }[];
  /** The events that each destination accepted, in order of arrival. */
  readonly arrivals: Readonly<Record<string, readonly Arrival[]>>;
  /** End of the fault: recovery is measured from here. */
  readonly overMs: number;
  /** When visitors stopped: silence is measured until here. */
  readonly stoppedMs: number;
  /** Events acknowledged before this time may be missing: the fault destroyed stored data. */
  readonly mayMissUntilMs?: number;
  readonly stops?: readonly Stop[];
  readonly erasures?: readonly Erasure[];
  readonly withdrawals?: readonly Withdrawal[];
  /** Further visitors whose events are in no ledger. */
  readonly others?: readonly number[];
};

/** Outcome of the acknowledged events at one destination. */
export type Delivered = {
  readonly delivered: number;
  readonly lost: number;
  /** Acknowledged events that are missing because the fault destroyed them; the fault is allowed to do so. */
  readonly destroyed: number;
  /** Repeated deliveries of an event under an Idempotency-Key that was already used for this event. */
  readonly repeated: number;
  /** Further Idempotency-Keys under which an event arrived. */
  readonly doubled: number;
  /** Events whose first delivery came after a later event of the same visitor. */
  readonly disordered: number;
  /** Deliveries of events that no visitor sent. */
  readonly invented: number;
  /** Deliveries with marks of another event or person, or with some of their own marks missing. */
  readonly mixed: number;
  /** Up to ten lost, disordered or mixed events, as `visitor/number`, to search for in the logs. */
  readonly examples: Readonly<Record<'lost' | 'disordered' | 'mixed', readonly string[]>>;
};

export type Verdict = {
  readonly sent: number;
  readonly acknowledged: number;
  readonly destinations: Readonly<Record<string, Delivered>>;
  readonly refused: Readonly<Record<string, number>>;
  /** Events that a destination received more than a second after its stop was live. */
  readonly afterStop: number;
  /** Deliveries of an erased visitor's events more than a second after the erasure was answered. */
  readonly afterErasure: number;
  /** Deliveries for a purpose more than a second after the visitor's withdrawal was live. */
  readonly afterWithdrawal: number;
  /** Longest time without a 200 to any request. */
  readonly longestSilenceMs: number;
  /**
   * From the end of the fault to the first 200 for a request sent after the fault. NaN if there was no such response.
   */
  readonly firstAcknowledgementMs: number;
  /**
   * From the end of the fault until each destination received an event first sent after it. NaN if a destination
   * received no such event.
   */
  readonly firstDeliveryMs: number;
  /**
   * From the end of the fault until each destination received an event of every visitor that sent an event after the
   * fault.
   */
  readonly everyVisitorMs: number;
  /** From sending the request that was answered with 200 to the first delivery, over all destinations. */
  readonly delayMs: { readonly p50: number; readonly p99: number };
};

const examplesMax = 10;
/** Counted from the answer to the publish. */
const stopHoldsWithinMs = 1_000;
/** Counted from the time at which the withdrawal is live. */
const withdrawalHoldsWithinMs = 1_000;

/** Compares events acknowledged to clients with those that destinations received. */
export function judge(evidence: Evidence): Verdict {
  const {
    entries,
    refusals,
    answers,
    arrivals: all,
    overMs,
    stoppedMs,
    mayMissUntilMs = Number.NEGATIVE_INFINITY,
    stops = [],
    erasures = [],
    withdrawals = [],
    others = [],
  } = evidence;
  // No ledger has the events of these visitors.
  const own = new Set([...[...erasures, ...withdrawals].map(({ visitor }) => visitor), ...others]);
  const arrivals = Object.fromEntries(
    Object.entries(all).map(([name, took]) => [name, took.filter(({ visitor }) => !own.has(visitor))]),
  );
  const byName = new Map(entries.map((entry) => [nameOf(entry), entry]));
  const acknowledged = entries.filter(isAcknowledged);
  const firsts = Object.values(arrivals).map(firstArrivals);
  const recovered = recoveryOf(acknowledged, firsts, overMs);
  const delays = acknowledged.flatMap((entry) =>
    // If an answer was lost, the event may be delivered before it is sent again and answered.
    firsts.map((first) => Math.max(0, (first.get(nameOf(entry))?.atMs ?? Number.NaN) - entry.acknowledgedSentMs)),
  );
  const sentAfter = answers.filter(({ sentMs }) => sentMs >= overMs).map(({ atMs }) => atMs - overMs);
  return {
    sent: entries.length,
    acknowledged: acknowledged.length,
    destinations: Object.fromEntries(
      Object.entries(arrivals).map(([name, took]) => [name, judgeOne(took, byName, acknowledged, mayMissUntilMs)]),
    ),
    refused: countBy(refusals.map(({ kind }) => kind)),
    afterStop: stops
      .flatMap(({ liveMs, arrivals: asked }) => asked.map(({ atMs }) => atMs - liveMs))
      .filter((ms) => ms > stopHoldsWithinMs).length,
    afterErasure: erasures.reduce((sum, erasure) => sum + countAfter(erasure, all), 0),
    afterWithdrawal: withdrawals
      .flatMap(({ visitor, liveMs, arrivals: took }) =>
        took.filter((arrival) => arrival.visitor === visitor).map(({ atMs }) => atMs - liveMs),
      )
      .filter((ms) => ms > withdrawalHoldsWithinMs).length,
    longestSilenceMs: longestGap([...answers.map(({ atMs }) => atMs), stoppedMs]),
    firstAcknowledgementMs: finite(Math.min(...sentAfter)),
    ...recovered,
    delayMs: percentiles(delays.filter(Number.isFinite)),
  };
}

function countAfter({ visitor, erasedMs, arrivals: own }: Erasure, arrivals: Evidence['arrivals']): number {
  const late = [own, ...Object.values(arrivals)]
    .flat()
    .filter((arrival) => arrival.visitor === visitor && arrival.atMs - erasedMs > erasureHoldsWithinMs);
  return late.length;
}

type Acknowledged = LedgerEntry & Required<Pick<LedgerEntry, 'acknowledgedSentMs' | 'acknowledgedMs' | 'order'>>;
type Named = { readonly visitor: number; readonly number: number };

const nameOf = ({ visitor, number }: Named): string => `${visitor}/${number}`;
const isAcknowledged = (entry: LedgerEntry): entry is Acknowledged => entry.acknowledgedMs !== undefined;

function firstArrivals(arrivals: readonly Arrival[]): ReadonlyMap<string, Arrival> {
  const first = new Map<string, Arrival>();
  for (const arrival of arrivals) if (!first.has(nameOf(arrival))) first.set(nameOf(arrival), arrival);
  return first;
}

function judgeOne(
  arrivals: readonly Arrival[],
  byName: ReadonlyMap<string, LedgerEntry>,
  acknowledged: readonly Acknowledged[],
  mayMissUntilMs: number,
): Delivered {
  const keys = new Map<string, Set<string>>();
  const newest = new Map<number, number>();
  const disordered: string[] = [];
  const mixed: string[] = [];
  let repeated = 0;
  let invented = 0;
  for (const arrival of arrivals) {
    const name = nameOf(arrival);
    const entry = byName.get(name);
    const before = keys.get(name);
    if (entry === undefined) invented += 1;
    else if (!isWhole(arrival, entry)) mixed.push(name);
    if (before !== undefined) {
      if (before.has(arrival.key)) repeated += 1;
      before.add(arrival.key);
      continue;
    }
    keys.set(name, new Set([arrival.key]));
    // Only acknowledged events have an order.
    if (entry?.order === undefined) continue;
    const last = newest.get(entry.visitor) ?? 0;
    if (entry.order < last) disordered.push(name);
    newest.set(entry.visitor, Math.max(last, entry.order));
  }
  const missing = acknowledged.filter((entry) => !keys.has(nameOf(entry)));
  // An acknowledgement may have been in transit when the data that it confirms was destroyed.
  const lost = missing.filter(({ acknowledgedSentMs }) => acknowledgedSentMs >= mayMissUntilMs).map(nameOf);
  return {
    delivered: acknowledged.length - missing.length,
    lost: lost.length,
    destroyed: missing.length - lost.length,
    repeated,
    doubled: [...keys.values()].reduce((sum, { size }) => sum + size - 1, 0),
    disordered: disordered.length,
    invented,
    mixed: mixed.length,
    examples: {
      lost: lost.slice(0, examplesMax),
      disordered: disordered.slice(0, examplesMax),
      mixed: mixed.slice(0, examplesMax),
    },
  };
}

/** Whether a delivery has its own marks. The marks of the person may be missing if the event itself had none. */
function isWhole({ event, person }: Arrival, { marks }: LedgerEntry): boolean {
  const isOfPerson = person === marks.person || (person === '' && !marks.saysPerson);
  return event === marks.event && isOfPerson;
}

function recoveryOf(
  acknowledged: readonly Acknowledged[],
  firsts: readonly ReadonlyMap<string, Arrival>[],
  overMs: number,
): Pick<Verdict, 'firstDeliveryMs' | 'everyVisitorMs'> {
  const sentAfter = acknowledged.filter(({ sentMs }) => sentMs >= overMs);
  const waits = firsts.map((first) => {
    const byVisitor = new Map<number, number>();
    for (const entry of sentAfter) {
      const atMs = first.get(nameOf(entry))?.atMs ?? Number.POSITIVE_INFINITY;
      byVisitor.set(entry.visitor, Math.min(byVisitor.get(entry.visitor) ?? Number.POSITIVE_INFINITY, atMs - overMs));
    }
    return [...byVisitor.values()];
  });
  return {
    firstDeliveryMs: finite(Math.max(...waits.map((waited) => Math.min(...waited)))),
    everyVisitorMs: finite(Math.max(...waits.map((waited) => Math.max(...waited)))),
  };
}

function longestGap(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted.reduce((longest, at, index) => Math.max(longest, at - (sorted[index - 1] ?? at)), 0);
}

const finite = (value: number): number => (Number.isFinite(value) ? value : Number.NaN);

function percentiles(values: readonly number[]): { readonly p50: number; readonly p99: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

function countBy(kinds: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
