import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { stepCounts } from './step-counts.ts';

// A dispatcher's counts for its destination. A move of an event between stages is counted by event name and by source,
// in the time step of the event's receipt; an answer to a request in the time step of the answer. The number of events
// in a stage (waiting, retrying) is the number that entered it minus the number that left it.

/** The stage that an event leaves: the account's log, a replay, or a stage in which events wait. */
export const stages = ['log', 'replay', 'waiting', 'retrying'] as const;
export type Stage = (typeof stages)[number];

/**
 * The stage that an event enters. `dead` and `stopped` are followed by a space and the reason. `skipped` means that the
 * event waited, and that the destination no longer needs it or the log no longer contains it.
 */
export type MovedTo = 'waiting' | 'retrying' | 'delivered' | 'skipped' | `dead ${string}` | `stopped ${string}`;

export type Move = { readonly from: Stage; readonly to: string; readonly reason: string };

/** Maximum characters of a name or reason; longer ones are shortened. */
export const countedTextMax = 100;
/** The reason under which all reasons are counted that have no column of their own. */
export const otherReason = 'other';

/** The column of a move: both stages, and the reason if it has one, shortened to `countedTextMax`. */
export const moveColumn = (from: Stage, to: MovedTo): string => `${from}>${to.slice(0, countedTextMax)}`;

/** Reads the column of a move; undefined for any other column. */
export function readMove(column: string): Move | undefined {
  const at = column.indexOf('>');
  const from = stages.find((stage) => stage === column.slice(0, at));
  if (from === undefined) return undefined;
  const [to = '', ...reason] = column.slice(at + 1).split(' ');
  return { from, to, reason: reason.join(' ') };
}

/** The column that counts attempts to which the platform answered "too many requests". */
export const throttledColumn = 'throttled';

const perDoubling = 2;

/** The column that counts requests answered after about `ms`. Neighbouring columns differ by a factor of about 1.4. */
export function answerColumn(ms: number): string {
  return `ms${Math.round(perDoubling * Math.log2(Math.max(1, ms)))}`;
}

/** The approximate time of a column, in ms; undefined for any other column. */
export function readAnswerColumn(column: string): number | undefined {
  const found = /^ms(\d{1,3})$/.exec(column)?.[1];
  return found === undefined ? undefined : 2 ** (Number(found) / perDoubling);
}

/** The tables of a destination, as in an entry of the HEALTH bucket. */
const deliveryCounts = Type.Object({
  names: Type.Optional(stepCounts),
  sources: Type.Optional(stepCounts),
  answers: Type.Optional(stepCounts),
});
export const isDeliveryCounts = Compile(deliveryCounts);
export type DeliveryCounts = Readonly<Static<typeof deliveryCounts>>;
