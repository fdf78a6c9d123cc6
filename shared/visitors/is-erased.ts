import { identifiersOf } from './visitor-identity.ts';
import type { VisitorClaim } from './visitor-identity.ts';
import type { KnownVisitors } from './visitor-rows.ts';
import type { VisitorTouch } from './visitor-store.ts';

/** Whether an event has an identifier that was erased after the event was received, or that is suppressed. */
export function isErased(claim: VisitorClaim, receivedAtMs: number, known: KnownVisitors): boolean {
  return identifiersOf(claim).some((identifier) => {
    const erasure = known.erasure(identifier);
    return erasure !== undefined && (erasure.isSuppressed || receivedAtMs <= erasure.atMs);
  });
}

/**
 * A person's event on a suppressed device, without the device's id: tied to the person, the id would be a visitor's
 * again, and its suppression would end.
 */
export function withoutSuppressedDevice(touch: VisitorTouch, known: KnownVisitors): VisitorTouch {
  const { userId: value } = touch.claim;
  if (value === undefined || known.erasure({ kind: 'visitor', value })?.isSuppressed !== true) return touch;
  return { ...touch, claim: { ...touch.claim, userId: undefined } };
}
