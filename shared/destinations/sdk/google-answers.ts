import type { PlatformAnswers, PlatformProblem, ScriptedAnswer } from './platform.ts';

/**
 * Google API errors (https://google.aip.dev/193): a status name and, for an invalid field, its
 * path. For scripted platforms.
 */
export const googleRefusals: Omit<PlatformAnswers, 'success'> = {
  refusal: ({ field, message }: PlatformProblem) =>
    failure(400, 'INVALID_ARGUMENT', 'There was a problem with the request.', [
      { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field, description: message }] },
    ]),
  throttled: failure(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded.'),
  endedToken: failure(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.'),
  tooLarge: failure(413, 'INVALID_ARGUMENT', 'Request payload size exceeds the limit.'),
  unavailable: failure(503, 'UNAVAILABLE', 'The service is currently unavailable.'),
};

function failure(code: number, status: string, message: string, details?: readonly unknown[]): ScriptedAnswer {
  return { status: code, body: { error: { code, message, status, ...(details === undefined ? {} : { details }) } } };
}
