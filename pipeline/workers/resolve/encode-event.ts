import type { Envelope } from '../../../shared/contracts/events/envelope.ts';
import {
  beforeContext,
  beforeEvent,
  behindEvent,
  eventEnd,
  writeEventStart,
} from '../../../shared/contracts/events/resolved-event.ts';
import type { ByteWriter } from '../../../shared/json/byte-writer.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { VisitorLine, VisitorProperties } from '../../../shared/visitors/visitor-properties.ts';
import type { IngestEvent, JsonParts } from './read-event.ts';

/** Writes the event's part of a resolved event, as JSON. */
export function encodeEvent(
  writer: ByteWriter,
  envelope: Envelope,
  event: IngestEvent,
  versionNumber: number | undefined,
): void {
  writeEventStart(writer, {
    id: envelope.id,
    event: event.name,
    time: event.timeMs,
    received_at: envelope.at,
    source_id: envelope.source,
    account_id: envelope.account,
    test: envelope.test === true,
    trace: envelope.trace,
    integrations: event.integrations,
    consent: event.consent,
  });
  writeParts(writer, event.properties);
  writer.bytes(beforeContext);
  writeParts(writer, event.context);
  writer.text(eventEnd(versionNumber));
}

function writeParts(writer: ByteWriter, { before, taken, behind }: JsonParts): void {
  writer.text(before);
  if (taken !== undefined) writer.stretch(taken);
  writer.text(behind);
}

/**
 * The visitor's part of a resolved event, as JSON: its properties with its id, and with custom_properties even if it
 * has none. Assembled from existing text: most events do not change their visitor, which is often larger than the
 * event.
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

/** The text of a line before and after its event. */
export function encodeVisitorLine(id: string, properties: VisitorProperties): VisitorLine {
  const json = encodeVisitor(id, properties);
  const [before, behind] = [beforeEvent(id), behindEvent(json)];
  const bytes = Buffer.byteLength(before) + Buffer.byteLength(behind);
  return { id, before, behind, bytes, characters: json.length };
}
