import type { SnapshotEntity } from '../contracts/config/account-config.ts';

/**
 * Which event names a destination gets. An account that has published no allowed event lets everything through to
 * every destination; with at least one, a name goes to the destinations listed with it. Names match without case;
 * the service's own events, which begin with `$`, always pass.
 */
export function compileAllowedEvents(
  allowedEvents: readonly SnapshotEntity[],
  destinationId: string,
): (eventName: string) => boolean {
  if (allowedEvents.length === 0) return () => true;
  const names = new Set<string>();
  for (const { name, destinationIds } of allowedEvents) {
    if (typeof name !== 'string') continue;
    if (Array.isArray(destinationIds) && destinationIds.includes(destinationId)) names.add(name.toLowerCase());
  }
  return (eventName) => eventName.startsWith('$') || names.has(eventName.toLowerCase());
}
