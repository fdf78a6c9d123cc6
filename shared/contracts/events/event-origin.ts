/** Where EVENTS has an event: the sequence of its frame, and its line there. Events may share an id, and never this. */
export type EventOrigin = { readonly seq: number; readonly line: number };

/**
 * Tells the events of one visitor apart. The id stands in it since sequences begin again when EVENTS is created again, and
 * by itself where the origin is unknown: earlier builds did not write it down.
 */
export function eventKey(id: string, origin: EventOrigin | undefined): string {
  return origin === undefined ? id : `${origin.seq}.${origin.line} ${id}`;
}
