import { encodeResolved } from '../../shared/contracts/events/resolved-event.ts';
import type { ResolvedEvent } from '../../shared/contracts/events/resolved-event.ts';
import { eventsSubject } from '../../shared/contracts/subjects.ts';
import { sourceIdOf, visitorIdOf } from '../config/ids.ts';
import { fillFrames } from './fill-frames.ts';

export type FillEventsOptions = {
  readonly natsUrl: string;
  readonly accountId: string;
  readonly events: number;
  readonly visitors?: number;
};

const partitions = 4;
const visitorsByDefault = 20_000;

/** Writes resolved events to an account's log, as its resolvers would, as a backlog for its destinations. */
export function fillEvents({ natsUrl, accountId, events, visitors = visitorsByDefault }: FillEventsOptions) {
  const nowMs = Date.now();
  return fillFrames({
    natsUrl,
    events,
    accountId,
    partitions,
    subjectOf: (partition) => eventsSubject(accountId, partition),
    event(index) {
      const visitor = visitorIdOf(index % visitors);
      return {
        visitor,
        append: (frame) => frame.appendLine(encodeResolved(resolvedEvent(accountId, index, visitor, nowMs))),
      };
    },
  });
}

/** A bench track after resolving, as the end-to-end path stores it; about 660 bytes. */
export function resolvedEvent(accountId: string, index: number, visitor: string, nowMs: number): ResolvedEvent {
  return {
    v: 1,
    event: {
      id: `filled-${index}`,
      event: 'Product Viewed',
      time: nowMs,
      received_at: nowMs,
      source_id: sourceIdOf(accountId),
      account_id: accountId,
      test: false,
      event_properties: {
        product_id: 'sku-48151',
        name: 'Walnut desk with two drawers',
        price: 249.5,
        currency: 'EUR',
        category: 'furniture/desks',
        sent_at: nowMs,
      },
      context: {
        current_url: 'https://shop.example/desks/walnut',
        referrer: 'https://search.example/',
        ip: '127.0.0.1',
      },
      version_number: 1,
    },
    visitor: { id: visitor, external_id: visitor, custom_properties: {} },
  };
}
