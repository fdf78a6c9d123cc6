const eventKey = ',"event":';

/** A message about an event: `about`, then the event as a line of the log, byte for byte. */
export function joinEvent(about: object, line: string): string {
  return `${JSON.stringify(about).slice(0, -1)}${eventKey}${line}}`;
}

/** The event of such a message. No text inside the message looks like it, since the quotes of a text are escaped. */
export function eventLineOf(message: string): string | undefined {
  const at = message.indexOf(`${eventKey}{`);
  return at === -1 || !message.endsWith('}}') ? undefined : message.slice(at + eventKey.length, -1);
}
