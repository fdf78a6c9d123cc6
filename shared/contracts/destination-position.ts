import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { decodeJson, encodeJson } from '../runtime/json.ts';
import { refusedVersion } from './log-format.ts';
import { assertId } from './subjects.ts';

/** Frames of the account's log a dispatcher has settled, by their sequence. */
export type WrittenPlace = {
  /** All up to here are. */
  readonly upTo: number;
  /** Those above, each by how far it is from the one before. */
  readonly above: readonly number[];
  /** When the newest of all was stored, in ms since the epoch. */
  readonly storedUntilMs: number;
  /** Frames that are in part: sequence, when stored, and the lines that are, a bit each, in base64. */
  readonly parts: readonly (readonly [number, number, string])[];
};

/** Where a destination stands in its account's log: the one entry of POSITIONS that says it. */
export type DestinationPosition = {
  readonly v: 1;
  /** Raised by each dispatcher that claims the destination; one of an earlier term writes nothing any more. */
  readonly term: number;
  /** The instance whose dispatcher wrote it last. */
  readonly owner: string;
  /** When the destination was first published, in ms since the epoch: what was resolved before is not for it. */
  readonly sinceMs: number;
  /** When it was found that an earlier position was missing, in ms since the epoch. */
  readonly lostAtMs?: number;
  /** The oldest sequence of EVENTS that its retries refer to: retention keeps EVENTS from there, within the quota. */
  readonly oldestReference?: number;
  /** No live version has the destination any more: published again, it starts from the beginning. */
  readonly retired?: true;
  /** Undefined as long as nothing was stored: the destination begins at `sinceMs`. */
  readonly place?: WrittenPlace;
};

const writtenPlace = Type.Object({
  upTo: Type.Number(),
  above: Type.Array(Type.Number()),
  storedUntilMs: Type.Number(),
  parts: Type.Array(Type.Tuple([Type.Number(), Type.Number(), Type.String()])),
});
export const isWrittenPlace = Compile(writtenPlace);
const isPosition = Compile(
  Type.Object({
    v: Type.Literal(1),
    term: Type.Integer({ minimum: 1 }),
    owner: Type.String(),
    sinceMs: Type.Number(),
    lostAtMs: Type.Optional(Type.Number()),
    oldestReference: Type.Optional(Type.Integer()),
    retired: Type.Optional(Type.Literal(true)),
    place: Type.Optional(writtenPlace),
  }),
);

export class PositionError extends Error {
  readonly code = 'position';
}

export const positionKey = (destinationId: string): string => `destination.${assertId(destinationId)}`;

export function encodePosition(position: DestinationPosition): Uint8Array {
  return encodeJson(position);
}

/** Throws PositionError on an entry this build does not know: what is sent depends on it, so it is never guessed. */
export function decodePosition(bytes: Uint8Array): DestinationPosition {
  const position = decodeJson(bytes);
  if (isPosition.Check(position)) return position;
  const { v } = (position ?? {}) as { readonly v?: unknown };
  throw new PositionError(`reading the position of a destination: ${refusedVersion(v, 1)}`);
}
