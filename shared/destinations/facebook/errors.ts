import { isJsonObject } from '../../runtime/json.ts';
import { jsonAnswer } from '../sdk/answers.ts';
import type { OutboundAnswer, Outcome } from '../sdk/destination.ts';

/**
 * What an error of the Graph API means for every event of the request; undefined where it may be the fault of one of
 * them. The API answers 400 also where it is asked too much or the token is at fault: only the code of the error tells.
 * Codes: https://developers.facebook.com/docs/graph-api/guides/error-handling and
 * https://developers.facebook.com/docs/marketing-api/error-reference; those the pages say little of as
 * https://github.com/rudderlabs/rudder-transformer (facebookUtils/networkHandler.js) has found them.
 */
export function facebookOutcome(answer: OutboundAnswer): Outcome | undefined {
  const error = jsonAnswer(answer)?.['error'];
  if (!isJsonObject(error) || typeof error['code'] !== 'number') return undefined;
  const { code } = error;
  const reason = `status ${answer.status}, code ${code}`;
  if (isOfLimits(code)) return { kind: 'retry', reason, isThrottled: true };
  if (error['is_transient'] === true || isTemporary(code)) return { kind: 'retry', reason };
  return isOfAccess(code, error['error_subcode']) ? { kind: 'retry', reason, refusesAccess: true } : undefined;
}

// The limits of calls: of the app (4), the user (17), the page (32), and those of business use cases.
function isOfLimits(code: number): boolean {
  return [4, 17, 32, 341, 613].includes(code) || (code >= 80_000 && code <= 80_014);
}

// The service's own trouble: unknown errors (1, 5000, 21009), an outage (2), a block that is for a time (368).
function isTemporary(code: number): boolean {
  return [1, 2, 368, 5_000, 21_009].includes(code);
}

// A token that is expired or wrong (102, 190), one without the permission (3, 10, 200 to 299), or a pixel that is not there
// or not the token's (100 with 33).
function isOfAccess(code: number, subcode: unknown): boolean {
  return [3, 10, 102, 190].includes(code) || (code >= 200 && code <= 299) || (code === 100 && subcode === 33);
}
