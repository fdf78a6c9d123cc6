/** What every event needs to be brought on its way. It stands at the start of a line, before all that clients write. */
export type EventHead = {
  readonly id: string;
  readonly name: string;
  readonly visitorId: string;
  readonly sourceId: string;
  /** Ms since the epoch. */
  readonly receivedAtMs: number;
  readonly isTest: boolean;
  readonly trace: string | undefined;
};

const beforeVisitorId = '{"v":1,"visitor_id":';
const layout =
  /^\{"v":1,"visitor_id":"([^"\\]*)","event":\{"id":"([^"\\]*)","event":"([^"\\]*)","time":[^,"]+,"received_at":(\d+),"source_id":"([^"\\]*)","account_id":"[^"\\]*","test":(true|false),(?:"trace":"([^"\\]*)",)?"event_properties":/;

/** What a line begins with, up to the event. */
export function lineStart(visitorId: string): string {
  return `${beforeVisitorId}${JSON.stringify(visitorId)},"event":`;
}

/**
 * Reads the head alone, for a quarter of what parsing the line costs. Undefined where the line is laid out otherwise, or
 * a text of the head is written with an escape: then the line has to be parsed, which says the same.
 */
export function readEventHead(line: string): EventHead | undefined {
  const [, visitorId, id, name, receivedAt, sourceId, test, trace] = layout.exec(line) ?? [];
  if (visitorId === undefined || id === undefined || name === undefined || sourceId === undefined) return undefined;
  return { id, name, visitorId, sourceId, receivedAtMs: Number(receivedAt), isTest: test === 'true', trace };
}

/** `{"event": …, "visitor": …}` of a line whose head could be read: the line without what stands before the event. */
export function eventJsonOf(line: string, { visitorId }: EventHead): string {
  return `{${line.slice(beforeVisitorId.length + visitorId.length + '"",'.length)}`;
}
