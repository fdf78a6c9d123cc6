import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { stepCounts } from './step-counts.ts';

// What a dispatcher counts of its destination's events beside its attempts: how each moves from stage to stage, by its name and
// by its source, in the step in which the event was received; and how its requests were answered, in the step of the answer.
// What is left of a stage (events that wait, events that are retried) is what came into it less what left it.

/** Where an event comes from when it moves: the account's log, a replay, or a stage it was left in. */
export const stages = ['log', 'replay', 'waiting', 'retrying'] as const;
export type Stage = (typeof stages)[number];

/**
 * Where an event moves to. `dead` and `stopped` name their reason after a space. `skipped`: it waited, and the destination has
 * no more use for it or the log has it no more.
 */
export type MovedTo = 'waiting' | 'retrying' | 'delivered' | 'skipped' | `dead ${string}` | `stopped ${string}`;

export type Move = { readonly from: Stage; readonly to: string; readonly reason: string };

/** Longer names and reasons are cut. */
export const countedTextMax = 100;
/** Reasons that have no column of their own. */
export const otherReason = 'other';

/** The column of a move. */
export const moveColumn = (from: Stage, to: MovedTo): string => `${from}>${to.slice(0, countedTextMax)}`;

/** Reads the column of a move; undefined where it is none. */
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

/** The column of a request that was answered after so many ms: times that differ by less than a fifth share one. */
export function answerColumn(ms: number): string {
  return `ms${Math.round(perDoubling * Math.log2(Math.max(1, ms)))}`;
}

/** About how many ms the requests of a column took; undefined where it is none of them. */
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
