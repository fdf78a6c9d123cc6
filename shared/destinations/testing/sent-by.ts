import { createHash } from 'node:crypto';
import type { DestinationKind, OutboundEvent, OutboundRequest } from '../sdk/destination.ts';

/** The time of the attempt in tests: one minute after the sample events. */
export const attemptMs = 1_700_000_060_000;

/** The request that a kind builds for events, with its example settings overridden by the given settings. */
export function requestOf(
  kind: DestinationKind,
  events: readonly OutboundEvent[],
  more: Readonly<Record<string, unknown>> = {},
): OutboundRequest {
  return kind.prepare({ ...kind.exampleSettings, ...more }).buildRequest(events, attemptMs);
}

/** The body of the request that `requestOf` returns, parsed as JSON. */
export function bodyOf(
  kind: DestinationKind,
  events: readonly OutboundEvent[],
  more: Readonly<Record<string, unknown>> = {},
): unknown {
  return JSON.parse(requestOf(kind, events, more).body ?? '');
}

/** The parameters of a GET address or of a form. */
export function parametersOf({ url, body }: OutboundRequest): Readonly<Record<string, string>> {
  return Object.fromEntries(body === undefined ? new URL(url).searchParams : new URLSearchParams(body));
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
