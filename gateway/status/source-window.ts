import { sourceCounts } from '../../shared/contracts/source-activity.ts';
import type { SourceCounts, SourceRecord, SourceStep } from '../../shared/contracts/source-activity.ts';

const minuteMs = 60_000;
const minutesKept = 16;
const hourMinutes = 60;

/** Outcomes of one source's events, by minute and by hour. Only steps with events take memory. */
export class SourceWindow {
  readonly #hoursKept: number;
  /** The counts of a step, by its number: minutes since the epoch here, hours below. */
  readonly #minutes: Map<number, number[]>;
  readonly #hours: Map<number, number[]>;

  /** Begins with the counts of `record`, if given. Keeps the counts of the last `hoursKept` hours. */
  constructor(hoursKept: number, record?: Pick<SourceRecord, 'minutes' | 'hours'>) {
    this.#hoursKept = hoursKept;
    this.#minutes = readSteps(record?.minutes ?? []);
    this.#hours = readSteps(record?.hours ?? []);
  }

  add(counts: SourceCounts, nowMs: number): void {
    const minute = Math.floor(nowMs / minuteMs);
    const hour = Math.floor(minute / hourMinutes);
    const added = sourceCounts.map((name) => counts[name]);
    if (added.every((count) => count === 0)) return;
    addTo(this.#minutes, minute, added);
    addTo(this.#hours, hour, added);
    forget(this.#minutes, minute - minutesKept);
    forget(this.#hours, hour - this.#hoursKept);
  }

  get minutes(): SourceStep[] {
    return writeSteps(this.#minutes);
  }

  /** The hours from `first` on, in hours since the epoch. */
  hoursFrom(first: number): SourceStep[] {
    return writeSteps(this.#hours).filter(([hour]) => hour >= first);
  }

  /** The hours before `end`, in hours since the epoch. */
  hoursBefore(end: number): SourceStep[] {
    return writeSteps(this.#hours).filter(([hour]) => hour < end);
  }
}

/** The hour that contains a time, in hours since the epoch. */
export function hourOf(atMs: number): number {
  return Math.floor(atMs / minuteMs / hourMinutes);
}

function addTo(steps: Map<number, number[]>, step: number, added: readonly number[]): void {
  const known = steps.get(step);
  steps.set(
    step,
    added.map((count, index) => count + (known?.[index] ?? 0)),
  );
}

function forget(steps: Map<number, number[]>, lastForgotten: number): void {
  for (const step of steps.keys()) if (step <= lastForgotten) steps.delete(step);
}

function readSteps(steps: readonly SourceStep[]): Map<number, number[]> {
  return new Map(steps.map(([step, ...counts]) => [step, counts]));
}

function writeSteps(steps: ReadonlyMap<number, readonly number[]>): SourceStep[] {
  return [...steps]
    .toSorted(([a], [b]) => a - b)
    .map(([step, [stored = 0, test = 0, lost = 0, invalid = 0, limited = 0, forbidden = 0]]) => [
      step,
      stored,
      test,
      lost,
      invalid,
      limited,
      forbidden,
    ]);
}
