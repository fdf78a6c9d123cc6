import type { SnapshotEntity } from '../contracts/config/account-config.ts';

/**
 * Which event names go to a destination, or, where none is given, to any destination there may be. An account that has
 * published no allowed event lets everything through to every destination; with at least one, a name goes to the
 * destinations listed with it. Names match without case; the service's own events, which begin with `$`, always pass. An
 * entity without a name allows nothing.
 */
export function compileAllowedEvents(
  allowedEvents: readonly SnapshotEntity[],
  destinationId?: string,
): (eventName: string) => boolean {
  if (allowedEvents.length === 0) return () => true;
  const names = new Set<string>();
  for (const { name, destinationIds } of allowedEvents) {
    if (typeof name !== 'string') continue;
    const isListed = Array.isArray(destinationIds) && destinationIds.includes(destinationId);
    if (destinationId === undefined || isListed) names.add(name.toLowerCase());
  }
  return (eventName) => eventName.startsWith('$') || names.has(eventName.toLowerCase());
}
