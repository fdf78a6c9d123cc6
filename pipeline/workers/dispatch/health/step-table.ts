import { fineStepMs, hourMs, joinStepCounts, otherRow } from '../../../../shared/contracts/step-counts.ts';
import type { StepCounts } from '../../../../shared/contracts/step-counts.ts';

/** Counts of one step, by cell. */
type Step = { readonly step: number; readonly cells: Map<number, Counter>; isChanged: boolean };
type Counter = { count: number };

export type StepTableOptions = {
  readonly hoursKept: number;
  /** Maximum number of rows; further names share the row `otherRow`. */
  readonly rowsMax: number;
  /**
   * The column that is counted instead of a new one if there is no room. It must return only a few different columns.
   */
  spareOf(column: string): string;
  /**
   * If there are more cells, the oldest fine steps become hours sooner; if that is not enough, the oldest hours are
   * removed.
   */
  readonly cellsMax: number;
};

const columnsMax = 128;
/** Number of hours for which counts are kept in fine steps. */
const fineHours = 24;
/** A removal leaves this fraction of the maximum number of cells, so that the next removal is not soon. */
const keptOfFull = 3 / 4;
/** Up to this many changed cells cause no write of the whole table. */
const changedMin = 64;

/**
 * Counts by time step, row and column. Counts of the last day are in steps of five minutes, older counts in steps of an
 * hour. A count belongs to the step of the time given with it, which may be long ago.
 */
export class StepTable {
  readonly #options: StepTableOptions;
  readonly #rows: Names;
  readonly #columns = new Names();
  readonly #fine = new Map<number, Step>();
  readonly #hours = new Map<number, Step>();
  #hoursUntil: number;
  #since: number;
  #cells = 0;
  /** The last counted cell: the next event is nearly always in the same step, and often in the same row. */
  #last: Last = nothing;
  #tidyAtMs = 0;
  #isMoved = false;

  /** Starts from the stored counts: `stored` is the last full set, `changed` has what changed after it. */
  constructor(options: StepTableOptions, nowMs: number, stored?: StepCounts, changed?: StepCounts) {
    const joined = joinStepCounts([stored, changed]);
    this.#options = options;
    this.#rows = new Names();
    this.#rows.indexOf(otherRow);
    this.#since = joined?.since ?? nowMs;
    this.#hoursUntil = joined?.hoursUntil ?? hourOf(nowMs) - fineHours;
    for (const { step, isHour, row, column, count } of joined?.cells ?? []) {
      const cells = this.#stepOf(isHour ? this.#hours : this.#fine, step).cells;
      const cell = this.#rows.indexOf(row) * columnsMax + this.#columns.indexOf(column);
      this.#counterOf(cells, cell).count += count;
    }
    const isChanged = (steps: StepCounts['fine'] = [], step: number): boolean => steps.some(([one]) => one === step);
    for (const one of this.#fine.values()) one.isChanged = isChanged(changed?.fine, one.step);
    for (const one of this.#hours.values()) one.isChanged = isChanged(changed?.hours, one.step);
  }

  /**
   * Adds `count` to the cell of `row` and `column` in the step that contains `atMs`; does nothing if that step is older
   * than `hoursKept`.
   */
  record(row: string, column: string, atMs: number, nowMs: number, count = 1): void {
    if (nowMs >= this.#tidyAtMs) this.#tidy(nowMs);
    const number = Math.floor(Math.min(atMs, nowMs) / fineStepMs);
    const { step: last, counter } = this.#last;
    if (last.step === number && this.#last.column === column && this.#last.row === row) {
      last.isChanged = true;
      counter.count += count;
      return;
    }
    const step = last.step === number ? last : this.#find(number, nowMs);
    if (step === undefined) return;
    step.isChanged = true;
    const rowIndex = this.#rows.find(row, this.#options.rowsMax) ?? 0;
    const columnIndex =
      this.#columns.find(column, columnsMax - reservedColumns) ?? this.#columns.indexOf(this.#options.spareOf(column));
    const counted = this.#counterOf(step.cells, rowIndex * columnsMax + columnIndex);
    counted.count += count;
    if (step.step === number) this.#last = { step, row, column, counter: counted };
  }

  /** The step that contains a time; old times have steps of an hour. Undefined if the time is too old. */
  #find(number: number, nowMs: number): Step | undefined {
    const hour = Math.floor((number * fineStepMs) / hourMs);
    if (hour <= hourOf(nowMs) - this.#options.hoursKept) return undefined;
    return hour >= this.#hoursUntil ? this.#stepOf(this.#fine, number) : this.#stepOf(this.#hours, hour);
  }

  #counterOf(cells: Map<number, Counter>, cell: number): Counter {
    const known = cells.get(cell);
    if (known !== undefined) return known;
    const made = { count: 0 };
    cells.set(cell, made);
    this.#cells += 1;
    if (this.#cells > this.#options.cellsMax) this.#tidyAtMs = 0;
    return made;
  }

  /** Whether so many counts have changed since `markStored` that all counts have to be written. */
  isAllDue(nowMs: number): boolean {
    if (nowMs >= this.#tidyAtMs) this.#tidy(nowMs);
    if (this.#isMoved) return true;
    let changed = 0;
    for (const { isChanged, cells } of this.#all()) if (isChanged) changed += cells.size;
    return changed > Math.max(changedMin, this.#cells / 4);
  }

  /** Marks all counts as stored. Returns a function that reverts this if the write fails. */
  markStored(): () => void {
    const changed = this.#all().filter(({ isChanged }) => isChanged);
    const wasMoved = this.#isMoved;
    for (const one of changed) one.isChanged = false;
    this.#isMoved = false;
    return () => {
      for (const one of changed) one.isChanged = true;
      this.#isMoved ||= wasMoved;
    };
  }

  /** All counts, or the steps that have changed since `markStored`; undefined if there are none. */
  toCounts(which: 'all' | 'changed'): StepCounts | undefined {
    const fits = ({ isChanged }: Step): boolean => which === 'all' || isChanged;
    const [fine, hours] = [[...this.#fine.values()].filter(fits), [...this.#hours.values()].filter(fits)];
    if (fine.length + hours.length === 0) return undefined;
    const [rows, columns] = [new Names(), new Names()];
    const pairsOf = ({ step, cells }: Step): number[][] => [
      [step],
      ...[...cells].map(([cell, { count }]) => [
        rows.indexOf(this.#rows.nameOf(Math.floor(cell / columnsMax))),
        columns.indexOf(this.#columns.nameOf(cell % columnsMax)),
        count,
      ]),
    ];
    const byStep = (a: Step, b: Step): number => a.step - b.step;
    const found = [fine.toSorted(byStep).map(pairsOf), hours.toSorted(byStep).map(pairsOf)] as const;
    const width = columns.names.length;
    const write = ([[step = 0] = [], ...cells]: number[][]): number[] => [
      step,
      ...cells.flatMap(([row = 0, column = 0, count = 0]) => [row * width + column, count]),
    ];
    return {
      since: this.#since,
      rows: rows.names,
      columns: columns.names,
      fine: found[0].map(write),
      hours: found[1].map(write),
      hoursUntil: this.#hoursUntil,
    };
  }

  #all(): Step[] {
    return [...this.#fine.values(), ...this.#hours.values()];
  }

  #stepOf(steps: Map<number, Step>, number: number): Step {
    const known = steps.get(number);
    if (known !== undefined) return known;
    const made: Step = { step: number, cells: new Map(), isChanged: true };
    steps.set(number, made);
    return made;
  }

  /**
   * Runs once an hour, and if there are too many cells: steps that are a day old become hours, and the oldest hours are
   * removed.
   */
  #tidy(nowMs: number): void {
    const nowHour = hourOf(nowMs);
    this.#foldUntil(nowHour - fineHours);
    this.#dropUntil(nowHour - this.#options.hoursKept + 1);
    if (this.#cells > this.#options.cellsMax) {
      const wanted = this.#options.cellsMax * keptOfFull;
      while (this.#cells > wanted && this.#hoursUntil <= nowHour) this.#foldUntil(this.#hoursUntil + 1);
      while (this.#cells > wanted && this.#hours.size > 1) this.#dropUntil(Math.min(...this.#hours.keys()) + 1);
    }
    this.#forgetNames();
    this.#last = nothing;
    this.#tidyAtMs = (nowHour + 1) * hourMs;
  }

  #foldUntil(hour: number): void {
    if (hour <= this.#hoursUntil) return;
    for (const [number, { cells }] of this.#fine) {
      const into = Math.floor((number * fineStepMs) / hourMs);
      if (into >= hour) continue;
      this.#fine.delete(number);
      this.#cells -= cells.size;
      const sums = this.#stepOf(this.#hours, into);
      sums.isChanged = true;
      for (const [cell, { count }] of cells) this.#counterOf(sums.cells, cell).count += count;
      this.#isMoved = true;
    }
    this.#hoursUntil = hour;
  }

  #dropUntil(hour: number): void {
    for (const [number, { cells }] of this.#hours) {
      if (number >= hour) continue;
      this.#hours.delete(number);
      this.#cells -= cells.size;
      this.#since = Math.max(this.#since, (number + 1) * hourMs);
      this.#isMoved = true;
    }
  }

  /** Frees rows and columns that no step uses. */
  #forgetNames(): void {
    const used = new Set<number>();
    for (const { cells } of this.#all()) for (const cell of cells.keys()) used.add(cell);
    const rows = new Set([...used].map((cell) => Math.floor(cell / columnsMax)));
    const columns = new Set([...used].map((cell) => cell % columnsMax));
    this.#rows.keep((index) => index === 0 || rows.has(index));
    this.#columns.keep((index) => columns.has(index));
  }
}

/** Columns that are reserved for those that `spareOf` returns. */
const reservedColumns = 48;

type Last = { readonly step: Step; readonly row: string; readonly column: string; readonly counter: Counter };
const nothing: Last = {
  step: { step: NaN, cells: new Map(), isChanged: true },
  row: '',
  column: '',
  counter: { count: 0 },
};

const hourOf = (atMs: number): number => Math.floor(atMs / hourMs);

/** Names with their indexes. */
class Names {
  readonly #indexes = new Map<string, number>();
  readonly #names: (string | undefined)[] = [];

  get names(): string[] {
    return this.#names.map((name) => name ?? '');
  }

  nameOf(index: number): string {
    return this.#names[index] ?? '';
  }

  /** The index of a name; undefined if the name is new and there are already `max` names. */
  find(name: string, max: number): number | undefined {
    const known = this.#indexes.get(name);
    if (known !== undefined) return known;
    return this.#indexes.size >= max ? undefined : this.indexOf(name);
  }

  /** The index of a name; a new name gets the next free index. */
  indexOf(name: string): number {
    const known = this.#indexes.get(name);
    if (known !== undefined) return known;
    const free = this.#names.indexOf(undefined);
    const index = free === -1 ? this.#names.length : free;
    this.#names[index] = name;
    this.#indexes.set(name, index);
    return index;
  }

  keep(isUsed: (index: number) => boolean): void {
    for (const [name, index] of this.#indexes) {
      if (isUsed(index)) continue;
      this.#indexes.delete(name);
      this.#names[index] = undefined;
    }
  }
}
