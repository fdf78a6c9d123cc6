import { Type } from 'typebox';

/** Length of a step of recent counts, in ms; older counts are for whole hours. */
export const fineStepMs = 5 * 60_000;
export const hourMs = 3_600_000;

/**
 * Counts by time step, row and column, as stored. A step is a list: its number since the epoch, then pairs of a cell
 * (`row * columns.length + column`) and its count. Zeros are left out.
 */
export type StepCounts = {
  /** There are no counts from before this time, in ms since the epoch. */
  readonly since: number;
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  readonly fine: readonly (readonly number[])[];
  readonly hours: readonly (readonly number[])[];
  /** Counts from before this hour (since the epoch) are for whole hours. */
  readonly hoursUntil: number;
};

/** The row of all names that have no row of their own: the number of rows of a table is limited. */
export const otherRow = '';

const steps = Type.Array(Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1 }));
export const stepCounts = Type.Object({
  since: Type.Number(),
  rows: Type.Array(Type.String()),
  columns: Type.Array(Type.String()),
  fine: steps,
  hours: steps,
  hoursUntil: Type.Integer(),
});

/** The count in one cell. `isHour` tells whether its step is an hour; if not, it is a fine step. */
export type StepCell = {
  readonly step: number;
  readonly isHour: boolean;
  readonly row: string;
  readonly column: string;
  count: number;
};

export type JoinedCounts = { readonly since: number; readonly hoursUntil: number; readonly cells: readonly StepCell[] };

/**
 * Joins the entries that one writer wrote; undefined if there are none. A writer's counts only grow, so for a cell in
 * several entries the highest count is the newest, whatever the order of the writes. Pure.
 */
export function joinStepCounts(parts: readonly (StepCounts | undefined)[]): JoinedCounts | undefined {
  const known = parts.filter((part) => part !== undefined);
  if (known.length === 0) return undefined;
  const hoursUntil = Math.max(...known.map((part) => part.hoursUntil));
  const cells = new Map<string, StepCell>();
  const add = (cell: StepCell): void => {
    const key = `${cell.isHour ? 'h' : 'f'}${cell.step} ${JSON.stringify([cell.row, cell.column])}`;
    const before = cells.get(key);
    if (before === undefined) cells.set(key, cell);
    else before.count = Math.max(before.count, cell.count);
  };
  for (const part of known) {
    for (const step of part.fine) {
      // Leaves out fine steps of an entry that was written before they were joined into their hour.
      if (Math.floor(((step[0] ?? 0) * fineStepMs) / hourMs) >= hoursUntil) readStep(part, step, false, add);
    }
    for (const step of part.hours) readStep(part, step, true, add);
  }
  return { since: Math.max(...known.map((part) => part.since)), hoursUntil, cells: [...cells.values()] };
}

function readStep(
  { rows, columns }: StepCounts,
  [step = 0, ...pairs]: readonly number[],
  isHour: boolean,
  add: (cell: StepCell) => void,
): void {
  for (let at = 0; at + 1 < pairs.length; at += 2) {
    const [cell = 0, count = 0] = [pairs[at], pairs[at + 1]];
    const row = rows[Math.floor(cell / columns.length)];
    const column = columns[cell % columns.length];
    if (row !== undefined && column !== undefined) add({ step, isHour, row, column, count });
  }
}
