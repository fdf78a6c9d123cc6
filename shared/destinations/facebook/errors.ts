import { isJsonObject } from '../../runtime/json.ts';
import { jsonAnswer } from '../sdk/answers.ts';
import type { OutboundAnswer, Outcome } from '../sdk/destination.ts';

/**
 * The outcome of a Graph API error for all events of the request; undefined if a single event may be the cause. The API
 * responds 400 to throttling and token errors too; only the error code distinguishes them. Codes:
 * https://developers.facebook.com/docs/graph-api/guides/error-handling and
 * https://developers.facebook.com/docs/marketing-api/error-reference; codes that these pages barely describe follow
 * https://github.com/rudderlabs/rudder-transformer (facebookUtils/networkHandler.js).
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

// Rate limits of the app (4), the user (17), the page (32), and of business use cases.
function isOfLimits(code: number): boolean {
  return [4, 17, 32, 341, 613].includes(code) || (code >= 80_000 && code <= 80_014);
}

// Errors of the service: unknown errors (1, 5000, 21009), an outage (2), a temporary block (368).
function isTemporary(code: number): boolean {
  return [1, 2, 368, 5_000, 21_009].includes(code);
}

// A token that is expired or invalid (102, 190) or lacks a permission (3, 10, 200 to 299), or a pixel that does not
// exist or is not accessible to the token (100 with subcode 33).
function isOfAccess(code: number, subcode: unknown): boolean {
  return [3, 10, 102, 190].includes(code) || (code >= 200 && code <= 299) || (code === 100 && subcode === 33);
}
