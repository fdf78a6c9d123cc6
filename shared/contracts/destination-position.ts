import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { decodeJson, encodeJson } from '../runtime/json.ts';
import { refusedVersion } from './log-format.ts';
import { assertId } from './subjects.ts';

/** Which frames of the account's log a dispatcher has settled, by their sequence. */
export type WrittenPlace = {
  /** All frames up to this one are settled. */
  readonly upTo: number;
  /** Settled frames above `upTo`, each as its distance from the previous one. */
  readonly above: readonly number[];
  /** When the newest settled frame was stored, in ms since the epoch. */
  readonly storedUntilMs: number;
  /** Partly settled frames: sequence, time of storage, and the settled lines as a bit map in base64. */
  readonly parts: readonly (readonly [number, number, string])[];
};

/** The position of a destination in its account's log. POSITIONS has one such entry for each destination. */
export type DestinationPosition = {
  readonly v: 1;
  /**
   * Increased by each dispatcher that claims the destination; a dispatcher with an earlier term can no longer write.
   */
  readonly term: number;
  /** The destination's account; undefined until a build that stores it has claimed the destination. */
  readonly accountId?: string;
  /** The instance whose dispatcher wrote this position. */
  readonly owner: string;
  /** When the destination was first published, in ms since the epoch: it gets no events resolved before that time. */
  readonly sinceMs: number;
  /** When it was noticed that an earlier position is missing, in ms since the epoch. */
  readonly lostAtMs?: number;
  /**
   * The oldest sequence of EVENTS that the destination's retries refer to: within the quota, retention keeps that frame
   * and all later ones.
   */
  readonly oldestReference?: number;
  /** Set if no live version contains the destination. If it is published again, it starts at that publication. */
  readonly retired?: true;
  /** Undefined before the first write: the destination begins at `sinceMs`. */
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
    accountId: Type.Optional(Type.String()),
    owner: Type.String(),
    sinceMs: Type.Number(),
    lostAtMs: Type.Optional(Type.Number()),
    oldestReference: Type.Optional(Type.Integer()),
    retired: Type.Optional(Type.Literal(true)),
    place: Type.Optional(writtenPlace),
  }),
);

class PositionError extends Error {
  readonly code = 'position';
}

const keyPrefix = 'destination.';
export const positionKey = (destinationId: string): string => `${keyPrefix}${assertId(destinationId)}`;
/** The destination of a key of POSITIONS. */
export const destinationOfPosition = (key: string): string => key.slice(keyPrefix.length);

export function encodePosition(position: DestinationPosition): Uint8Array {
  return encodeJson(position);
}

/** Throws for an entry that this build does not know: a position is never guessed. */
export function decodePosition(bytes: Uint8Array): DestinationPosition {
  const position = decodeJson(bytes);
  if (isPosition.Check(position)) return position;
  const { v } = (position ?? {}) as { readonly v?: unknown };
  throw new PositionError(`reading the position of a destination: ${refusedVersion(v, 1)}`);
}

/** The position of an entry; undefined if there is none, or one that this build cannot read. */
export function findPosition(value: Uint8Array | undefined): DestinationPosition | undefined {
  try {
    return value && decodePosition(value);
  } catch (error) {
    if (error instanceof PositionError) return undefined;
    throw error;
  }
}
