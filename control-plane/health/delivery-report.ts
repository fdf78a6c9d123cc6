import { readAnswerColumn, readMove, throttledColumn } from '../../shared/contracts/delivery-counts.ts';
import type { DeliveryCounts } from '../../shared/contracts/delivery-counts.ts';
import { fineStepMs, hourMs, joinStepCounts, otherRow } from '../../shared/contracts/step-counts.ts';
import type { JoinedCounts, StepCell } from '../../shared/contracts/step-counts.ts';

/** Counts that one pipeline has stored for a destination, in the order of joinStepCounts. */
export type DeliveryParts = readonly (DeliveryCounts | undefined)[];

/** Outcomes of the events that were received in a step or a range. */
export type Funnel = {
  /** Events read from the account's log. */
  received: number;
  /** Events received again by a replay. */
  replayed: number;
  filtered: number;
  waiting: number;
  retrying: number;
  deadLetters: number;
  delivered: number;
  /** Delivered events that had failed at least once before. */
  deliveredLate: number;
};

export type ReasonCount = { readonly reason: string; events: number };

export type DeliveryStep = Funnel & {
  readonly at: number;
  requests: number;
  throttled: number;
  /** Response time in ms: the median (`half`) and the 95th percentile (`most`); null without requests. */
  answerMs: { readonly half: number; readonly most: number } | null;
};

export type DeliveryReport = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
  /** Events received before this time are not counted; null if there are no counts. */
  readonly sinceMs: number | null;
  readonly total: Funnel;
  /** Counts by event name, the largest first; null stands for all other names. */
  readonly names: readonly (Funnel & { readonly event: string | null })[];
  readonly filtered: readonly ReasonCount[];
  readonly deadLetters: readonly ReasonCount[];
  readonly steps: readonly DeliveryStep[];
};

export type DeliveryRange = { readonly fromMs: number; readonly toMs: number; readonly event?: string | undefined };

/** How long counts are kept. */
export const deliveryRangeMaxMs = 7 * 24 * hourMs;
const dayMs = 24 * hourMs;
const stepsMax = 84;

/**
 * Sums the reports of all pipelines. The range is widened to whole steps, and steps to whole hours if part of the range
 * is counted only by the hour. Pure.
 */
export function reportDelivery(reports: readonly DeliveryParts[], range: DeliveryRange): DeliveryReport {
  const names = joinAll(reports, 'names');
  const answers = joinAll(reports, 'answers');
  const hoursUntilMs = Math.max(-Infinity, ...[...names, ...answers].map(({ hoursUntil }) => hoursUntil * hourMs));
  const stepMs = stepOf(range, hoursUntilMs);
  const firstStep = Math.floor(range.fromMs / stepMs);
  const endStep = Math.max(firstStep + 1, Math.ceil(range.toMs / stepMs));
  const steps = Array.from({ length: endStep - firstStep }, (_, index) => newStep((firstStep + index) * stepMs));
  const stepAt = ({ step, isHour }: StepCell): DeliveryStep | undefined =>
    steps[Math.floor((step * (isHour ? hourMs : fineStepMs)) / stepMs) - firstStep];
  const total = noEvents();
  const byName = new Map<string, Funnel>();
  const [filtered, deadLetters] = [new Map<string, ReasonCount>(), new Map<string, ReasonCount>()];
  for (const cell of names.flatMap(({ cells }) => cells)) {
    const step = stepAt(cell);
    const move = readMove(cell.column);
    if (step === undefined || move === undefined) continue;
    const ofName = byName.get(cell.row) ?? noEvents();
    byName.set(cell.row, ofName);
    addMove(ofName, move, cell.count);
    if (range.event !== undefined && range.event !== cell.row) continue;
    addMove(total, move, cell.count);
    addMove(step, move, cell.count);
    if (move.to === 'stopped' || move.to === 'skipped') addReason(filtered, move.reason || move.to, cell.count);
    if (move.to === 'dead') addReason(deadLetters, move.reason, cell.count);
  }
  addAnswers(
    answers.flatMap(({ cells }) => cells),
    stepAt,
  );
  const since = names.map((one) => one.since);
  return {
    fromMs: firstStep * stepMs,
    toMs: endStep * stepMs,
    stepMs,
    sinceMs: since.length === 0 ? null : Math.min(...since),
    total: settled(total),
    names: [...byName]
      .map(([name, funnel]) => ({ event: name === otherRow ? null : name, ...settled(funnel) }))
      .toSorted((a, b) => b.received + b.replayed - a.received - a.replayed),
    filtered: byEvents(filtered),
    deadLetters: byEvents(deadLetters),
    steps: steps.map((step) => ({ ...step, ...settled(step) })),
  };
}

/** Outcomes of the events of each source since a time, by its id. Pure. */
export function reportSources(reports: readonly DeliveryParts[], fromMs: number): ReadonlyMap<string, Funnel> {
  const bySource = new Map<string, Funnel>();
  for (const { step, isHour, row, column, count } of joinAll(reports, 'sources').flatMap(({ cells }) => cells)) {
    const move = readMove(column);
    if (move === undefined || (step + 1) * (isHour ? hourMs : fineStepMs) <= fromMs) continue;
    const funnel = bySource.get(row) ?? noEvents();
    bySource.set(row, funnel);
    addMove(funnel, move, count);
  }
  for (const [id, funnel] of bySource) bySource.set(id, settled(funnel));
  return bySource;
}

function joinAll(reports: readonly DeliveryParts[], table: keyof DeliveryCounts): JoinedCounts[] {
  return reports
    .map((parts) => joinStepCounts(parts.map((part) => part?.[table])))
    .filter((joined) => joined !== undefined);
}

/** Five minutes for a few hours, then longer, so that there are not more steps than a chart shows. */
function stepOf({ fromMs, toMs }: DeliveryRange, hoursUntilMs: number): number {
  const lengthMs = toMs - fromMs;
  const finest =
    fromMs < hoursUntilMs
      ? hourMs
      : lengthMs <= dayMs / 8
        ? fineStepMs
        : lengthMs <= dayMs / 2
          ? 3 * fineStepMs
          : hourMs / 2;
  const wanted = [finest, hourMs, 3 * hourMs, 6 * hourMs].find((ms) => ms >= finest && lengthMs / ms <= stepsMax);
  return wanted ?? 6 * hourMs;
}

export const noEvents = (): Funnel => ({
  received: 0,
  replayed: 0,
  filtered: 0,
  waiting: 0,
  retrying: 0,
  deadLetters: 0,
  delivered: 0,
  deliveredLate: 0,
});

const newStep = (at: number): DeliveryStep => ({ at, ...noEvents(), requests: 0, throttled: 0, answerMs: null });

function addMove(funnel: Funnel, { from, to }: { readonly from: string; readonly to: string }, count: number): void {
  if (from === 'log') funnel.received += count;
  else if (from === 'replay') funnel.replayed += count;
  else if (from === 'waiting') funnel.waiting -= count;
  else funnel.retrying -= count;
  if (to === 'delivered') funnel.delivered += count;
  if (to === 'delivered' && from === 'retrying') funnel.deliveredLate += count;
  else if (to === 'waiting') funnel.waiting += count;
  else if (to === 'retrying') funnel.retrying += count;
  else if (to === 'dead') funnel.deadLetters += count;
  else if (to === 'stopped' || to === 'skipped') funnel.filtered += count;
}

/** Replaces negative counts by 0: a process that was killed may have counted twice that an event left a stage. */
const settled = (funnel: Funnel): Funnel => ({
  received: funnel.received,
  replayed: funnel.replayed,
  filtered: funnel.filtered,
  waiting: Math.max(0, funnel.waiting),
  retrying: Math.max(0, funnel.retrying),
  deadLetters: funnel.deadLetters,
  delivered: funnel.delivered,
  deliveredLate: funnel.deliveredLate,
});

function addReason(counts: Map<string, ReasonCount>, reason: string, events: number): void {
  const known = counts.get(reason);
  if (known === undefined) counts.set(reason, { reason, events });
  else known.events += events;
}

const byEvents = (counts: ReadonlyMap<string, ReasonCount>): ReasonCount[] =>
  [...counts.values()].toSorted((a, b) => b.events - a.events);

function addAnswers(cells: readonly StepCell[], stepAt: (cell: StepCell) => DeliveryStep | undefined): void {
  const times = new Map<DeliveryStep, [ms: number, requests: number][]>();
  for (const cell of cells) {
    const step = stepAt(cell);
    if (step === undefined) continue;
    const ms = readAnswerColumn(cell.column);
    if (cell.column === throttledColumn) step.throttled += cell.count;
    if (ms === undefined) continue;
    step.requests += cell.count;
    times.set(step, [...(times.get(step) ?? []), [ms, cell.count]]);
  }
  for (const [step, answered] of times) {
    const sorted = answered.toSorted(([a], [b]) => a - b);
    step.answerMs = { half: within(sorted, step.requests / 2), most: within(sorted, step.requests * 0.95) };
  }
}

function within(sorted: readonly (readonly [ms: number, requests: number])[], wanted: number): number {
  let seen = 0;
  for (const [ms, requests] of sorted) {
    seen += requests;
    if (seen >= wanted) return Math.round(ms);
  }
  return Math.round(sorted.at(-1)?.[0] ?? 0);
}
