import { hash } from 'node:crypto';
import type { ResolvedEvent } from '../../contracts/events/resolved-event.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { defineDestination } from '../sdk/destination.ts';
import type { OutboundEvent, PreparedDestination } from '../sdk/destination.ts';
import { postJson } from '../sdk/http.ts';
import { isSchemaName, syntheticValue } from './payload.ts';
import { address, batchSize, headerSetting, readWebUrl, requiredText } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { nothingKept } from '../sdk/erasure.ts';

const batchEventsMax = 1_000;
const minuteMs = 60_000;

const settings = {
  url: address(
    requiredText(
      {
        label: 'URL',
        placeholder: 'https://example.com/events',
        sublabel: 'The URL to send made-up events to. Redirects are not followed.',
        example: 'https://example.com/events',
      },
      readWebUrl,
    ),
  ),
  headers: headerSetting({
    label: 'Headers',
    placeholder: '{"Authorization": "Bearer …"}',
    sublabel: 'A JSON object of strings, sent with every request.',
    example: '{"Authorization":"Bearer example"}',
  }),
  batchSize: batchSize({
    max: batchEventsMax,
    fallback: 1,
    sublabel: `Events in a request, 1 to ${batchEventsMax}. Above 1 the body is an array.`,
  }),
};

/**
 * For trying an integration without personal data: each event is replaced by a made-up one, in HTTPDestination's body
 * format. Names of events and properties stay, unless they could be personal text; every value, id and address is
 * made up from the event id, and the time is rounded down to the minute. The same event always gives the same result.
 */
export const sluiceSyntheticData = defineDestination({
  id: 'SluiceSyntheticData',
  label: 'Sluice Synthetic Data',
  settings,
  facts: {
    sends: 'A made-up event for every event',
    limits: { events: 1_000 },
    deduplicatesBy: 'idempotency-key',
    errors: 'status of the whole request',
    sources: ['https://www.rfc-editor.org/rfc/rfc9110'],
    checked: '2026-11-22',
    version: 'unversioned',
  },
  loadPlatform: async () => (await import('./platform.ts')).syntheticEndpoint,
  prepare,
  erase: () => nothingKept('Only generated events were sent.'),
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const { url } = given;
  const headers = { ...given.headers, 'x-sluice-synthetic': 'true' };
  return {
    batchEventsMax: given.batchSize,
    buildRequest(events) {
      const made = events.map((event) => ({ resolved: syntheticEvent(event) }));
      const bodies = made.map(({ resolved: { event, visitor } }) => ({ event, visitor }));
      return postJson({ url, headers, body: given.batchSize === 1 ? bodies[0] : bodies, events: made });
    },
  };
}

function syntheticEvent({ resolved, mapped }: OutboundEvent): ResolvedEvent {
  const { event, visitor } = resolved;
  const name = mapped?.eventName ?? event.event;
  const fake = (part: string, value: unknown): JsonObject =>
    syntheticValue(value, `${part}\n${event.id}`) as JsonObject;
  const time = Math.floor(event.time / minuteMs) * minuteMs;
  const { id: _id, ...properties } = visitor;
  return {
    v: 1,
    event: {
      id: syntheticId('event', event.id),
      event: isSchemaName(name) ? name : 'Synthetic Event',
      time,
      received_at: time,
      source_id: event.source_id,
      account_id: event.account_id,
      test: event.test,
      event_properties: fake('properties', mapped?.properties ?? event.event_properties),
      context: fake('context', event.context),
      ...(event.version_number === undefined ? {} : { version_number: event.version_number }),
    },
    visitor: {
      custom_properties: {},
      ...fake('visitor', properties),
      id: syntheticId('visitor', event.id),
    },
  };
}

function syntheticId(part: string, eventId: string): string {
  return `synthetic-${hash('sha256', `sluice-synthetic\n${part}\n${eventId}`, 'hex').slice(0, 24)}`;
}
