import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { stepCounts } from './step-counts.ts';

// A dispatcher's counts of its destination's events: how each moves from stage to stage, by its name and by its source,
// in the step of its receipt; and how requests were answered, in the step of the answer. The events in a stage
// (waiting, retrying) are those that entered it less those that left it.

/** The stage that an event leaves: the account's log, a replay, or a stage it waited in. */
export const stages = ['log', 'replay', 'waiting', 'retrying'] as const;
export type Stage = (typeof stages)[number];

/**
 * The stage that an event enters. `dead` and `stopped` name their reason after a space. `skipped`: it waited, and the
 * destination no longer needs it or the log no longer has it.
 */
export type MovedTo = 'waiting' | 'retrying' | 'delivered' | 'skipped' | `dead ${string}` | `stopped ${string}`;

export type Move = { readonly from: Stage; readonly to: string; readonly reason: string };

/** Longer names and reasons are shortened. */
export const countedTextMax = 100;
/** Reasons without a column. */
export const otherReason = 'other';

/** The column of a move. */
export const moveColumn = (from: Stage, to: MovedTo): string => `${from}>${to.slice(0, countedTextMax)}`;

/** Reads the column of a move; undefined for any other column. */
export function readMove(column: string): Move | undefined {
  const at = column.indexOf('>');
  const from = stages.find((stage) => stage === column.slice(0, at));
  if (from === undefined) return undefined;
  const [to = '', ...reason] = column.slice(at + 1).split(' ');
  return { from, to, reason: reason.join(' ') };
}

/** Attempts that the platform answered with "too many requests". */
export const throttledColumn = 'throttled';

const perDoubling = 2;

/** The column of a request that was answered after so many ms: times within a fifth of each other share one. */
export function answerColumn(ms: number): string {
  return `ms${Math.round(perDoubling * Math.log2(Math.max(1, ms)))}`;
}

/** The time in ms that a column stands for, about; undefined for any other column. */
export function readAnswerColumn(column: string): number | undefined {
  const found = /^ms(\d{1,3})$/.exec(column)?.[1];
  return found === undefined ? undefined : 2 ** (Number(found) / perDoubling);
}

/** The tables of a destination, as an entry of the HEALTH bucket holds them. */
const deliveryCounts = Type.Object({
  names: Type.Optional(stepCounts),
  sources: Type.Optional(stepCounts),
  answers: Type.Optional(stepCounts),
});
export const isDeliveryCounts = Compile(deliveryCounts);
export type DeliveryCounts = Readonly<Static<typeof deliveryCounts>>;
