/** A published entry: an event name and its destinations. */
export type AllowedEvent = { readonly name: string; readonly destinationIds: readonly string[] };

/**
 * Decides which event names go to a destination or, where none is given, to any destination. An account without allowed
 * events (`isLimited` false) sends every event to every destination; with at least one, readable or not, a name goes to
 * the destinations listed with it. Names match without case; the service's own events, which begin with `$`, always
 * pass.
 */
export function compileAllowedEvents(
  allowedEvents: readonly AllowedEvent[],
  isLimited: boolean,
  destinationId?: string,
): (eventName: string) => boolean {
  if (!isLimited) return () => true;
  const names = new Set<string>();
  for (const { name, destinationIds } of allowedEvents) {
    if (destinationId === undefined || destinationIds.includes(destinationId)) names.add(name.toLowerCase());
  }
  return (eventName) => eventName.startsWith('$') || names.has(eventName.toLowerCase());
}
