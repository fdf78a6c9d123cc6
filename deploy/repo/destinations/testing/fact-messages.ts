import type { Envelope } from '../../../../shared/contracts/events/envelope.ts';
import type { ResolvedEvent } from '../../../../shared/contracts/events/resolved-event.ts';
import { isJsonObject } from '../../../../shared/runtime/json.ts';
import type { JsonObject } from '../../../../shared/runtime/json.ts';
import { resolveMessages, resolveNative } from '../resolve-messages.ts';

/** Time of the messages of facts; they arrive a second later. */
export const messageTime = '2026-11-26T10:00:00.000Z';
export const arrivalMs = Date.parse(messageTime) + 1_000;

/** The context that a browser's library adds to every event. */
const usualContext = {
  ip: '203.0.113.7',
  userAgent: 'Mozilla/5.0',
  page: { url: 'https://shop.example.com/p' },
};

/** A message completed with the usual ids, time and page context. A null removes one of them. */
function whole(message: JsonObject, index: number): JsonObject {
  if ('distinct_id' in message) return { uuid: `m${index}`, timestamp: messageTime, ...message };
  const own = isJsonObject(message['context']) ? message['context'] : {};
  const ids = { messageId: `m${index}`, userId: 'u1', anonymousId: 'a1', timestamp: messageTime };
  return { ...ids, ...message, context: { ...usualContext, ...own } };
}

/** Messages of one source, completed with the usual members, as resolved. */
export const resolveFactMessages = (messages: readonly JsonObject[]): readonly ResolvedEvent[] =>
  resolveMessages(messages.map(whole), arrivalMs);

/** Resolves a payload of the service's own API. */
export const resolveFactPayload = (kind: Envelope['kind'], body: JsonObject): ResolvedEvent | undefined =>
  resolveNative(kind, body, arrivalMs);
