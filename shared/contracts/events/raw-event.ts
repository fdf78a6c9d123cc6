import { JsonFacts, scanValue } from '../../json/scan-json.ts';

const eventKey = ',"event":';

/** Joins data about an event with the event: `about`, then the event as a line of the log, byte for byte. */
export function joinEvent(about: object, line: string): string {
  return `${JSON.stringify(about).slice(0, -1)}${eventKey}${line}}`;
}

/**
 * The event in a JSON message, byte for byte: the first member `event` that is an object. The message of an earlier
 * build may have members after it. No text can contain the key, because quotes in texts are escaped.
 */
export function eventLineOf(message: string): string | undefined {
  const at = message.indexOf(`${eventKey}{`);
  if (at === -1) return undefined;
  const bytes = Buffer.from(message.slice(at + eventKey.length));
  return bytes.toString('utf8', 0, scanValue(new JsonFacts(), bytes, 0));
}
