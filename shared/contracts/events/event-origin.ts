/**
 * The place of an event in EVENTS: the sequence of its frame, and its line there. Events may share an id, but never an
 * origin.
 */
export type EventOrigin = { readonly seq: number; readonly line: number };

/**
 * Distinguishes the events of one visitor. It contains the id, since sequences start again when EVENTS is created
 * again, and only the id where the origin is unknown, as in records of earlier builds.
 */
export function eventKey(id: string, origin: EventOrigin | undefined): string {
  return origin === undefined ? id : `${origin.seq}.${origin.line} ${id}`;
}
