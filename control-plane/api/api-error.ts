/** A failure a client may see: its message names the field and what was expected, never an internal. */
export class ApiError extends Error {
  readonly code: string;
  readonly status: number;
  /** More than the first problem, where there is more. */
  readonly details: string | undefined;
  /** When to try again, in seconds, where that is known. */
  readonly retryAfterS: number | undefined;

  constructor(status: number, code: string, message: string, details?: string, retryAfterS?: number) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.retryAfterS = retryAfterS;
  }
}

export function badRequest(message: string, details?: string): ApiError {
  return new ApiError(400, 'bad_request', message, details);
}

export function unauthorized(): ApiError {
  return new ApiError(401, 'unauthorized', 'a valid API key is required: Authorization: Bearer <API key>');
}

export function forbidden(scope: string, kind: 'key' | 'user' | 'tool' = 'key'): ApiError {
  const who = kind === 'user' ? 'your role' : 'the API key';
  return new ApiError(403, 'forbidden', `${who} lacks the scope ${scope}`);
}

export function notFound(what: string): ApiError {
  return new ApiError(404, 'not_found', `${what} not found`);
}

/** The result of a lookup; throws the 404 where there is none. */
export async function found<Value>(lookup: Promise<Value | undefined>, what: string): Promise<Value> {
  const value = await lookup;
  if (value === undefined) throw notFound(what);
  return value;
}

/** For an address of other services that Sluice does not have. */
export function leftOut(reason: string): ApiError {
  return new ApiError(404, 'left_out', reason);
}

export const conflictCode = 'conflict';

/** A conflict that a retry will not end: the reply asks clients that retry a 409 not to. */
export function conflict(message: string, details?: string): ApiError {
  return new ApiError(409, conflictCode, message, details);
}

export function tooMany(message: string, retryAfterS?: number): ApiError {
  return new ApiError(429, 'too_many', message, undefined, retryAfterS);
}

export function unavailable(message: string): ApiError {
  return new ApiError(503, 'unavailable', message);
}
