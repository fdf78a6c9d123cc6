import { identifiersOf } from './visitor-identity.ts';
import type { VisitorClaim } from './visitor-identity.ts';
import type { KnownVisitors } from './visitor-rows.ts';

/** Whether an event has an identifier that was erased after the event was received, or that is suppressed. */
export function isErased(claim: VisitorClaim, receivedAtMs: number, known: KnownVisitors): boolean {
  return identifiersOf(claim).some((identifier) => {
    const erasure = known.erasure(identifier);
    return erasure !== undefined && (erasure.isSuppressed || receivedAtMs <= erasure.atMs);
  });
}
