const eventKey = ',"event":';

/** Joins data about an event with the event: `about`, then the event as a line of the log, byte for byte. */
export function joinEvent(about: object, line: string): string {
  return `${JSON.stringify(about).slice(0, -1)}${eventKey}${line}}`;
}

/**
 * The event in a message that `joinEvent` made. No text in the message can contain the key, because quotes in texts are
 * escaped.
 */
export function eventLineOf(message: string): string | undefined {
  const at = message.indexOf(`${eventKey}{`);
  return at === -1 || !message.endsWith('}}') ? undefined : message.slice(at + eventKey.length, -1);
}
