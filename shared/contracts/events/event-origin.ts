/**
 * The position of an event in EVENTS: the sequence of its frame, and its line in the frame. Two events may share an id,
 * but never an origin.
 */
export type EventOrigin = { readonly seq: number; readonly line: number };

/**
 * Distinguishes the events of one visitor. The key also contains the id, because sequences restart when EVENTS is
 * recreated; it is only the id if the origin is unknown, as in records of earlier builds.
 */
export function eventKey(id: string, origin: EventOrigin | undefined): string {
  return origin === undefined ? id : `${origin.seq}.${origin.line} ${id}`;
}
