import {
  answerColumn,
  countedTextMax,
  moveColumn,
  otherReason,
  stages,
  throttledColumn,
} from '../../../../shared/contracts/delivery-counts.ts';
import type { DeliveryCounts, MovedTo, Stage } from '../../../../shared/contracts/delivery-counts.ts';
import type { EventHead } from '../../../../shared/contracts/events/resolved-event.ts';
import { otherRow } from '../../../../shared/contracts/step-counts.ts';
import { StepTable } from './step-table.ts';

const tableNames = ['names', 'sources', 'answers'] as const;

/** Number of event names that are counted separately; the table of sources has as many rows. */
export const countedNamesMax = 20;
const sourcesMax = 20;
const [namesCellsMax, sourcesCellsMax, answersCellsMax] = [4_096, 2_048, 2_048];

/** Counts how the events of a destination move between stages, and how its requests are answered. */
export class DeliveryTables {
  readonly #tables: Readonly<Record<(typeof tableNames)[number], StepTable>>;

  /** Starts from the stored counts: `stored` is the last full set, `changed` has what changed after it. */
  constructor(hoursKept: number, nowMs: number, stored?: DeliveryCounts, changed?: DeliveryCounts) {
    const open = (name: (typeof tableNames)[number], rowsMax: number, cellsMax: number): StepTable =>
      new StepTable({ hoursKept, rowsMax, cellsMax, spareOf }, nowMs, stored?.[name], changed?.[name]);
    this.#tables = {
      // The additional row counts all other names.
      names: open('names', countedNamesMax + 1, namesCellsMax),
      sources: open('sources', sourcesMax + 1, sourcesCellsMax),
      answers: open('answers', 1, answersCellsMax),
    };
  }

  /** Call when an event moves from one stage to another. */
  moved({ name, sourceId, receivedAtMs }: CountedHead, from: Stage, to: MovedTo, nowMs: number): void {
    const { names, sources } = this.#tables;
    const column = columnsOf[from].get(to) ?? makeColumn(from, to);
    const row = name.length > countedTextMax ? name.slice(0, countedTextMax) : name;
    names.record(row, column, receivedAtMs, nowMs);
    sources.record(sourceId, column, receivedAtMs, nowMs);
  }

  /** Call when a request ended: `tookMs` is its time, `throttled` the number of its throttled attempts. */
  answered(tookMs: number, throttled: number, nowMs: number): void {
    const { answers } = this.#tables;
    answers.record(otherRow, answerColumn(tookMs), nowMs, nowMs);
    if (throttled > 0) answers.record(otherRow, throttledColumn, nowMs, nowMs, throttled);
  }

  /** Whether all counts have to be written, and not only changed ones. */
  isAllDue(nowMs: number): boolean {
    return tableNames.some((name) => this.#tables[name].isAllDue(nowMs));
  }

  /** Marks all counts as stored. Returns a function that reverts this if the write fails. */
  markStored(): () => void {
    const undo = tableNames.map((name) => this.#tables[name].markStored());
    return () => {
      for (const one of undo) one();
    };
  }

  /** Undefined if there are no counts. */
  toCounts(which: 'all' | 'changed'): DeliveryCounts | undefined {
    const counted = tableNames.flatMap((name) => {
      const counts = this.#tables[name].toCounts(which);
      return counts === undefined ? [] : [[name, counts] as const];
    });
    return counted.length === 0 ? undefined : (Object.fromEntries(counted) as DeliveryCounts);
  }
}

export type CountedHead = Pick<EventHead, 'name' | 'sourceId' | 'receivedAtMs'>;

/** Cached columns, by stage, of moves without a reason, which nearly all moves are. */
const columnsOf = Object.fromEntries(stages.map((from) => [from, new Map<MovedTo, string>()])) as Readonly<
  Record<Stage, Map<MovedTo, string>>
>;

function makeColumn(from: Stage, to: MovedTo): string {
  const made = moveColumn(from, to);
  if (!to.includes(' ')) columnsOf[from].set(to, made);
  return made;
}

/** For a move that cannot get a column of its own: the column of the same move with the reason `otherReason`. */
function spareOf(column: string): string {
  const reasonAt = column.indexOf(' ');
  return reasonAt === -1 ? column : `${column.slice(0, reasonAt)} ${otherReason}`;
}
