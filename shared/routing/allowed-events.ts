/** A published entry: an event name and its destinations. */
export type AllowedEvent = { readonly name: string; readonly destinationIds: readonly string[] };

/**
 * Compiles a check of whether an event name may go to a destination or, if none is given, to any destination. An
 * account without allowed events (`isLimited` false) sends every event to every destination; with at least one,
 * readable or not, an event goes only to the destinations listed with its name. Names match without case; Sluice's own
 * events, whose names begin with `$`, always pass.
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
