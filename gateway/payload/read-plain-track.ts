import { isUtf8 } from 'node:buffer';
import type { PlainEvent, PlainFields } from './scan-body.ts';
import { readPlainEvent, textField } from './scan-body.ts';
import { skipJsonSpace } from '../../shared/json/scan-json.ts';
import type { JsonFacts } from '../../shared/json/scan-json.ts';
import type { JsonLimits } from './read-json.ts';

/** A track that needs no parsing to be known as valid. */
export type PlainTrack = PlainFields & {
  readonly token: string;
  /** Range of the token's text in the body. */
  readonly tokenStart: number;
  readonly tokenEnd: number;
};

const firstNonAscii = 0x80;

/** Reads a body that is a plain track; undefined for every other body, invalid ones included. */
export function readPlainTrack(
  event: PlainEvent,
  facts: JsonFacts,
  body: Buffer,
  limits: JsonLimits,
): PlainTrack | undefined {
  if (!readPlainEvent(event, facts, body, skipJsonSpace(body, 0))) return undefined;
  if (skipJsonSpace(body, event.end) < body.length) return undefined;
  if (facts.depth > limits.depthMax || facts.keys > limits.keysMax) return undefined;
  if (facts.bits >= firstNonAscii && !isUtf8(body)) return undefined;
  const { token, userId, externalId, email, distinctId, time } = event.fields(body, facts);
  if (token === undefined) return undefined;
  const tokenStart = event.starts[textField.token] ?? -1;
  const tokenEnd = event.ends[textField.token] ?? -1;
  return { token, userId, externalId, email, distinctId, time, tokenStart, tokenEnd };
}
