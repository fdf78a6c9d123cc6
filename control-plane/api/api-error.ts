/** A failure whose message a client may see: it names the field and the expected value, and no internals. */
export class ApiError extends Error {
  readonly code: string;
  readonly status: number;
  /** Details of the problem, or further problems, if there are any. */
  readonly details: string | undefined;
  /** Seconds until a retry makes sense, if known. */
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

/** Returns the result of a lookup; throws a 404 if there is none. */
export async function found<Value>(lookup: Promise<Value | undefined>, what: string): Promise<Value> {
  const value = await lookup;
  if (value === undefined) throw notFound(what);
  return value;
}

/** The error for an address of another service that Sluice does not have. */
export function leftOut(reason: string): ApiError {
  return new ApiError(404, 'left_out', reason);
}

export const conflictCode = 'conflict';

/** A conflict that a retry cannot resolve: the reply asks clients that retry a 409 not to retry. */
export function conflict(message: string, details?: string): ApiError {
  return new ApiError(409, conflictCode, message, details);
}

export function tooMany(message: string, retryAfterS?: number): ApiError {
  return new ApiError(429, 'too_many', message, undefined, retryAfterS);
}

export function unavailable(message: string): ApiError {
  return new ApiError(503, 'unavailable', message);
}
