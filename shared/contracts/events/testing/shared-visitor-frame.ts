import { asBuffer, FrameWriter } from '../frame.ts';
import { encodeEventParts, resolvedLine, visitorReference } from '../resolved-event.ts';
import type { ResolvedEvent } from '../resolved-event.ts';

/** A frame in which each event but the first refers to the visitor of the first. */
export function sharedVisitorFrame(events: readonly ResolvedEvent[]): Buffer {
  const writer = new FrameWriter();
  events.forEach((one, index) => {
    const { v: _, event: parts, visitor } = one;
    const whole = JSON.stringify(visitor);
    const said = index === 0 ? whole : visitorReference(0, whole.length);
    writer.appendLine(resolvedLine(visitor.id, encodeEventParts(parts), said));
  });
  return asBuffer(writer.bytes());
}
