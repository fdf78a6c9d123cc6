import type { Stage } from '../../../../shared/contracts/delivery-counts.ts';
import type { EventOrigin } from '../../../../shared/contracts/events/event-origin.ts';
import type { RetryRecord } from '../../../../shared/contracts/events/retry-record.ts';
import type { LogMessage } from '../../../../shared/nats/messages/log-message.ts';
import type { Attempted } from '../events/attempted.ts';
import type { ReadEvent } from '../events/read-event.ts';
import type { LoadedEvent } from '../events/referenced-events.ts';
import type { RetryPlace } from '../events/referenced-events.ts';
import type { DispatchItem } from './dispatch-item.ts';

/** The record of a quarantined event in the retry log. */
export type QuarantinedEvent = {
  readonly readFrom: RetryPlace | undefined;
  readonly stage: Stage;
  readonly attempted: Attempted;
  readonly lastAttemptAt?: number;
  readonly request?: RetryRecord['request'];
  readonly origin: EventOrigin | undefined;
};

/** What is known of an event that EVENTS may no longer have. `stage`: where it is counted. */
export type Referred = { readonly stage: Stage; readonly receivedAtMs: number };

/** An item of a log for which no attempt is made. */
export type Untried =
  /**
   * A line of the log that contains no event readable by this build; or a whole frame that cannot be divided into
   * lines.
   */
  | { readonly kind: 'unreadable line'; readonly data: string | Uint8Array }
  /** A frame of the retry log that this build cannot read. */
  | { readonly kind: 'unreadable frame'; readonly data: Uint8Array; readonly problem: string }
  /** A reference to an event that is no longer in EVENTS, since retention needed the room. */
  | ({ readonly kind: 'gone' } & Referred)
  /** A frame of the account's log: threads died twice while they worked on it. */
  | { readonly kind: 'quarantined frame'; readonly message: Pick<LogMessage, 'seq' | 'data' | 'storedAtMs'> }
  /** An event of the retry log: threads died twice while they worked on it. */
  | { readonly kind: 'quarantined event'; readonly event: ReadEvent; readonly about: QuarantinedEvent };

/**
 * Items that cannot be tried. `finish` is called once each of them is stored as a dead letter, or recorded as skipped.
 */
export type UntriedEvents = { readonly untried: readonly Untried[]; finish(): void };

/** Everything that a source hands to the dispatcher. */
export type Taken = DispatchItem | UntriedEvents;

/** The item for a reference whose event cannot be tried. */
export function untriedOf(
  loaded: Exclude<LoadedEvent, { readonly kind: 'event' }>,
  { stage, receivedAtMs }: Referred,
): Untried {
  return loaded.kind === 'gone'
    ? { kind: 'gone', stage, receivedAtMs }
    : { kind: 'unreadable line', data: loaded.line };
}
