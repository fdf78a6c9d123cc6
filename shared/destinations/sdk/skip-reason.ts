import { aliasEvent } from '../../contracts/events/envelope.ts';
import type { OutboundEvent } from './destination.ts';
import { groupEvent, identifyEvent, outboundName } from './event.ts';
import { standardSkips } from './facts.ts';
import type { KindFacts, SkippedCall } from './facts.ts';

const calls: ReadonlyMap<string, SkippedCall> = new Map([
  [identifyEvent, 'identify'],
  [groupEvent, 'group'],
  [aliasEvent, 'alias'],
]);

/** Why a kind skips an event, as a clause: the kind's own reason, otherwise the standard reason for the call. */
export function skipReason({ skips }: Pick<KindFacts, 'skips'>, event: OutboundEvent): string {
  const name = outboundName(event);
  const call = calls.get(name);
  if (call !== undefined) return skips?.[call] ?? standardSkips[call];
  return name.startsWith('$')
    ? 'the event is an internal one that this platform does not use'
    : 'the platform has no matching event, or no setting of the destination names it';
}
