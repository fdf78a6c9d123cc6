import type { Envelope } from '../../../shared/contracts/events/envelope.ts';
import { encodeEventParts } from '../../../shared/contracts/events/resolved-event.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { VisitorProperties } from '../../../shared/visitors/visitor-properties.ts';
import type { IngestEvent } from './read-event.ts';

/** The event's part of a resolved event, as JSON. */
export function encodeEvent(envelope: Envelope, event: IngestEvent, versionNumber: number | undefined): string {
  return encodeEventParts({
    id: envelope.id,
    event: event.name,
    time: event.timeMs,
    received_at: envelope.at,
    source_id: envelope.source,
    account_id: envelope.account,
    test: envelope.test === true,
    trace: envelope.trace,
    integrations: event.integrations,
    event_properties: event.properties,
    context: event.context,
    version_number: versionNumber,
  });
}

/**
 * The visitor's part of a resolved event, as JSON: its properties with its id, and with custom_properties though it may
 * have none. It is put together from text there is already: most events do not change their visitor, and a visitor is
 * the larger half of many an event.
 */
export function encodeVisitor(id: string, properties: VisitorProperties): string {
  const { value, text } = properties;
  const custom = value['custom_properties'];
  if (Object.hasOwn(value, 'id')) {
    return JSON.stringify({ ...value, id, custom_properties: isJsonObject(custom) ? custom : {} });
  }
  const start = `{"id":${JSON.stringify(id)}${custom === undefined ? ',"custom_properties":{}' : ''}`;
  return text === '{}' ? `${start}}` : `${start},${text.slice(1)}`;
}
