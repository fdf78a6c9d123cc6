import { randomUUID } from 'node:crypto';
import { FrameWriter } from '../../../../shared/contracts/events/frame.ts';
import { idsHeader } from '../../../../shared/contracts/events/event-hash.ts';
import { encodeResolved } from '../../../../shared/contracts/events/resolved-event.ts';
import type { ResolvedEvent } from '../../../../shared/contracts/events/resolved-event.ts';
import { encodeHashes, hashEvent } from '../../../../shared/contracts/events/event-hash.ts';

type Changes = Partial<ResolvedEvent['event']> & { readonly visitor?: ResolvedEvent['visitor'] };

/** A resolved event with all required fields. */
export function resolvedEvent(accountId: string, { visitor, ...event }: Changes = {}): ResolvedEvent {
  return {
    v: 1,
    event: {
      id: randomUUID(),
      event: 'Signup',
      time: Date.now(),
      received_at: Date.now(),
      source_id: 'source-1',
      account_id: accountId,
      test: false,
      event_properties: { plan: 'free' },
      context: { ip: '198.51.100.7' },
      ...event,
    },
    visitor: visitor ?? { id: 'visitor-1', custom_properties: {} },
  };
}

/** A frame as the resolver writes it, with its header. */
export function resolvedFrame(events: readonly ResolvedEvent[]) {
  const hashes = events.map(({ event }) => hashEvent(event.account_id, event.id));
  return { data: frameOfLines(events.map(encodeResolved)), headers: { [idsHeader]: encodeHashes(hashes) } };
}

export function frameOfLines(lines: readonly string[]): Uint8Array {
  const writer = new FrameWriter();
  for (const line of lines) writer.appendLine(line);
  return writer.bytes();
}
