import { stringifyExact } from '../../shared/json/exact-numbers.ts';
import { invalid, tooLarge } from '../http/reply.ts';
import type { Reply } from '../http/reply.ts';
import { describeProblem } from '../payload/describe-problem.ts';
import { identifyPayload, trackPayload } from '../payload/payloads.ts';
import type { IdentifyPayload, TrackPayload } from '../payload/payloads.ts';
import { replaceNulls } from '../payload/replace-nulls.ts';
import { BodyScan, scanBody } from '../payload/scan-body.ts';
import { isWithinWindow } from '../payload/time-window.ts';
import type { TimeWindow } from '../payload/time-window.ts';
import { blankRepeats } from './blank-token.ts';

/** An event that the gateway made from part of a request; its token is blank. */
export type MadeEvent =
  | { readonly kind: 'track'; readonly payload: TrackPayload }
  | { readonly kind: 'identify'; readonly payload: IdentifyPayload & Pick<TrackPayload, 'distinctId'> };

export type MadeLimits = { readonly timeWindow: TimeWindow; readonly bytesMax: number };

export const outsideWindow = invalid('time lies outside the window in which events are accepted');

const scan = new BodyScan();

/**
 * An event's bytes, or the answer to a request with an invalid event. `key`: the source key of the request; it is
 * masked wherever the event repeats it, as in the address that some services send with their webhooks.
 */
export function encodeMade(
  { kind, payload }: MadeEvent,
  key: string,
  atMs: number,
  limits: MadeLimits,
): Buffer | Reply {
  const check = kind === 'track' ? trackPayload : identifyPayload;
  if (!check.Check(payload)) return invalid(describeProblem(check, payload));
  const { time } = payload as { readonly time?: number | null };
  if (!isWithinWindow(time, atMs, limits.timeWindow)) return outsideWindow;
  const body = Buffer.from(stringifyExact(payload, ...Object.values(payload)));
  if (body.length > limits.bytesMax) return tooLarge(limits.bytesMax);
  blankRepeats(body, key);
  scanBody(scan, body);
  // A service cannot correct what a visitor typed into its form, and no store accepts a null character.
  return scan.facts.nulls ? replaceNulls(body) : body;
}
