import { uuidv7 } from 'uuidv7';
import { sampleEvent } from '../../shared/destinations/sdk/sample-event.ts';
import type { OutboundEvent } from '../../shared/destinations/sdk/destination.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';

export type TestEventFields = { readonly event?: string; readonly properties?: JsonObject };

/** A made-up event of now with an id of its own, marked as a test. */
export function createTestEvent(
  accountId: string,
  { event, properties }: TestEventFields,
  nowMs: number,
): OutboundEvent {
  return {
    resolved: sampleEvent({
      id: `test-${uuidv7()}`,
      time: nowMs,
      received_at: nowMs,
      source_id: 'test',
      account_id: accountId,
      test: true,
      ...(event === undefined ? {} : { event }),
      ...(properties === undefined ? {} : { event_properties: properties }),
    }),
  };
}
