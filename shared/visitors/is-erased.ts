import { deviceOf, namedBy } from './visitor-identity.ts';
import type { ErasureMarks, KnownVisitors } from './visitor-rows.ts';
import type { VisitorTouch } from './visitor-store.ts';

/** Whether an event has an identifier that was erased after the event was received, or that is suppressed. */
export function isErased(touch: VisitorTouch, known: KnownVisitors): boolean {
  const { receivedAtMs } = touch;
  return namedBy(touch).some((identifier) => {
    const erasure = known.erasure(identifier);
    return erasure !== undefined && (erasure.isSuppressed || receivedAtMs <= erasure.atMs);
  });
}

/**
 * Whether an event of a known visitor must be compared with the erasures. No visitor has a suppressed identifier, but
 * the event may name others; and one received before an erasure may belong to the erased visitor, even if another
 * visitor has its identifiers now.
 */
export const mayBeErased = ({ receivedAtMs, unclaimed }: VisitorTouch, marks: ErasureMarks): boolean =>
  receivedAtMs <= marks.newestAtMs || (unclaimed !== undefined && marks.hasSuppressions);

/**
 * A person's event on a suppressed device, without the device's id: tied to the person, the id would be a visitor's
 * again, and its suppression would end.
 */
export function withoutSuppressedDevice(touch: VisitorTouch, known: KnownVisitors): VisitorTouch {
  const isSuppressed = deviceOf(touch.claim).some((device) => known.erasure(device)?.isSuppressed === true);
  return isSuppressed ? { ...touch, claim: { ...touch.claim, userId: undefined } } : touch;
}
