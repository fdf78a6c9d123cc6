import { parseResolved } from '../../../shared/contracts/events/resolved-event.ts';
import type { ResolvedEvent } from '../../../shared/contracts/events/resolved-event.ts';
import type { UnreadLine } from '../../../shared/contracts/events/search-resolved.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import { cleanJson } from '../../../shared/visitors/clean-json.ts';
import { cleanText } from '../../../shared/visitors/visitor-identity.ts';
import { murmur3 } from '../../../shared/runtime/murmur3.ts';
import { isTime } from '../worker/is-time.ts';
import type { LeftByPlan, PlanOutcome } from './plan-outcomes.ts';
import type { SampledLine } from './sample-frame.ts';

/** An event in the view: a row of `recent_events`. */
export type RecentEvent = {
  readonly accountId: string;
  readonly id: string;
  readonly timeMs: number;
  readonly receivedAtMs: number;
  readonly sourceId: string;
  readonly name: string;
  readonly visitorId: string;
  readonly test: boolean;
  readonly versionNumber: number | undefined;
  readonly sampleOf: number;
  /** JSON: `event_properties`, `context`, `visitor`; `trace`, `integrations` and `consent` (the event's own) when there are any; `truncated` when something was left out. */
  readonly body: string;
  /** The tracking plan's verdict; undefined if there is none to show. */
  readonly plan: PlanOutcome | undefined;
};

/**
 * Reads an event from its line of a resolved frame; undefined for any other line. Text is changed to what PostgreSQL
 * can store. A body over `bodyBytesMax` loses its largest parts.
 */
export function readRecentEvent(
  { line, sampleOf }: SampledLine,
  bodyBytesMax: number,
): Omit<RecentEvent, 'plan'> | undefined {
  const resolved = parse(line);
  if (resolved === undefined) return undefined;
  const { event, visitor } = resolved;
  const id = recentEventId(event.id);
  const name = cleanText(event.event);
  const visitorId = cleanText(visitor.id);
  const readable = isTime(event.time) && isTime(event.received_at);
  if (id === undefined || name === undefined || visitorId === undefined || !readable) return undefined;
  return {
    accountId: event.account_id,
    id,
    timeMs: event.time,
    receivedAtMs: event.received_at,
    sourceId: cleanText(event.source_id) ?? '',
    name,
    visitorId,
    test: event.test,
    versionNumber: event.version_number,
    sampleOf,
    body: encodeBody(resolved, bodyBytesMax),
  };
}

/** An event that ended at its tracking plan, without its content; undefined if its id cannot be stored. */
export function recentEventLeft(left: LeftByPlan, sampleOf: number): RecentEvent | undefined {
  const { accountId, timeMs, receivedAtMs, versionNumber, plan } = left;
  const [id, name] = [recentEventId(left.id), cleanText(left.name)];
  if (id === undefined || name === undefined || !isTime(timeMs) || !isTime(receivedAtMs)) return undefined;
  const sourceId = cleanText(left.sourceId) ?? '';
  const own = { accountId, id, timeMs, receivedAtMs, sourceId, name, versionNumber, sampleOf, plan };
  return { ...own, visitorId: '', test: false, body: '{}' };
}

/** An event's id in the view. */
export function recentEventId(eventId: string): string | undefined {
  return cleanText(eventId);
}

/** Distinguishes events with one id: a hash of their source and visitor. Never 0, which rows of earlier builds have. */
export function recentEventOrigin({ sourceId, visitorId }: Pick<RecentEvent, 'sourceId' | 'visitorId'>): number {
  return murmur3(`${sourceId}\n${visitorId}`) | 0 || 1;
}

function parse(line: UnreadLine): ResolvedEvent | undefined {
  try {
    const resolved = parseResolved(line.read());
    return isJsonObject(resolved.event) && isJsonObject(resolved.visitor) ? resolved : undefined;
  } catch {
    return undefined;
  }
}

function encodeBody({ event, visitor }: ResolvedEvent, bytesMax: number): string {
  const { event_properties, context, trace, integrations, consent } = event;
  const small = {
    ...(trace === undefined ? {} : { trace }),
    ...(integrations === undefined ? {} : { integrations }),
    ...(consent === undefined ? {} : { consent }),
  };
  const { id, external_id, email } = visitor;
  const identity = {
    id,
    ...(external_id === undefined ? {} : { external_id }),
    ...(email === undefined ? {} : { email }),
  };
  const candidates: readonly JsonObject[] = [
    { event_properties, context, visitor, ...small },
    { event_properties, context, visitor: identity, ...small, truncated: true },
    { event_properties: {}, context: {}, visitor: identity, ...small, truncated: true },
  ];
  for (const candidate of candidates) {
    const text = JSON.stringify(cleanJson(candidate));
    if (Buffer.byteLength(text) <= bytesMax) return text;
  }
  return JSON.stringify({ event_properties: {}, context: {}, visitor: { id: cleanText(id) }, truncated: true });
}
