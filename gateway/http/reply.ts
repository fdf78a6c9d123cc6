/** A complete answer. Answers on the hot path are built once and sent many times. */
export type Reply = {
  readonly code: number;
  /** Status line without the protocol. */
  readonly status: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  /** Closes the connection after the answer. */
  readonly close: boolean;
  /** Whether the answer is the same for every page, so that caches may keep one copy. */
  readonly isForAll: boolean;
};

const reasons: Readonly<Record<number, string>> = {
  200: 'OK',
  204: 'No Content',
  207: 'Multi-Status',
  302: 'Found',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

const json = ['content-type', 'application/json'] as const;

/** The browser keeps the answer for one minute, so a revoked key or a changed consent setting takes effect soon. */
export const keptBriefly = [
  ['cache-control', 'private, max-age=60'],
  ['vary', 'origin'],
] as const;

export type ReplyOptions = {
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly close?: boolean;
  readonly isForAll?: boolean;
};

export function createReply(code: number, body: Uint8Array, options: ReplyOptions = {}): Reply {
  return {
    code,
    status: `${code} ${reasons[code] ?? 'Unknown'}`,
    headers: options.headers ?? [],
    body,
    close: options.close ?? false,
    isForAll: options.isForAll ?? false,
  };
}

export function jsonReply(code: number, value: unknown, options: ReplyOptions = {}): Reply {
  const headers = [json, ...(options.headers ?? [])];
  return createReply(code, Buffer.from(JSON.stringify(value)), { ...options, headers });
}

/** A refusal. `error` names the problem and repeats nothing the caller sent. */
export function failure(code: number, error: string, options: ReplyOptions = {}): Reply {
  return jsonReply(code, { success: false, error }, options);
}

/** The problem that a refusal names. */
export function problemOf({ body }: Reply): string {
  const { error } = JSON.parse(Buffer.from(body).toString('utf8')) as { readonly error?: string };
  return error ?? 'the event is not valid';
}

export const retryAfterS = 1;
const retryAfter = [['retry-after', String(retryAfterS)]] as const;

export const accepted = jsonReply(200, { success: true });
export const unauthorized = failure(
  401,
  'the token is missing or unknown, or its source is not enabled and published; "Check a key" on the Sources page of the console shows which',
);
export const forbidden = failure(403, 'the source does not accept requests from this domain or address');
export const signedOnly = failure(
  403,
  'the source accepts only requests signed by its provider, at the address of its webhook',
);
export const malformedJson = failure(400, 'the body is not valid JSON');
export const notUtf8 = failure(400, 'the body is not valid UTF-8');
export const forbiddenKey = failure(400, 'the body contains a forbidden key: __proto__ or constructor.prototype');
export const holdsNull = failure(400, 'the body contains a null character');
export const unsupportedType = failure(
  415,
  'the body must be JSON: content-type application/json, text/json, text/plain or one that ends in +json',
);
const unreadCoding = 'this content-encoding is not supported at this address';
/** For routes that accept gzip. The header names the accepted encodings (RFC 9110, 12.5.3). */
export const unsupportedEncoding = failure(415, unreadCoding, { headers: [['accept-encoding', 'gzip, identity']] });
/** For routes that accept no compressed body. */
export const compressedBody = failure(415, unreadCoding, { headers: [['accept-encoding', 'identity']] });
export const hostileFraming = failure(400, 'content-length or transfer-encoding is not valid', { close: true });
// Has `code` and `message`, because some libraries with a wrong address resend a request whose refusal lacks them.
export const notFound = jsonReply(404, { success: false, error: 'not found', code: 'not_found', message: 'not found' });
export const busy = failure(503, 'too many large bodies at once; try again', { headers: retryAfter });
export const internalError = failure(500, 'internal error');

export const addressBusy = failure(429, 'too many requests from this address are in flight; try again', {
  headers: retryAfter,
  close: true,
});

/** The log did not store the event. */
export const unavailable = jsonReply(
  503,
  { success: false, error: 'the event could not be stored; try again', retryable: true },
  { headers: retryAfter },
);

/** A source exceeds its rate limit, and may send again after `waitMs`. */
export const tooMany = (what: 'events' | 'bytes', waitMs: number): Reply =>
  failure(429, `too many ${what} for this source; try again later`, {
    headers: [['retry-after', String(Math.ceil(waitMs / 1_000))]],
  });

/** Longest wait that a refusal names, in seconds. */
const waitMaxS = 60;

/** The account's waiting events have waited too long. A backlog takes about as long to shrink as it took to grow. */
export const waitsTooLong = (ageMs: number): Reply =>
  failure(429, 'events of this account have waited too long to be delivered; try again later', {
    headers: [['retry-after', String(Math.min(waitMaxS, Math.max(1, Math.ceil(ageMs / 1_000))))]],
  });

/** Retry-After for an account whose events fill its quota of the log, in seconds. Space is freed every few seconds. */
const roomAfterS = 5;

/** The account's waiting events fill its quota of the log. */
export const tooMuchWaits = failure(429, 'too many events of this account wait to be processed; try again later', {
  headers: [['retry-after', String(roomAfterS)]],
});

export const tooLarge = (limit: number, close = false): Reply =>
  jsonReply(413, { success: false, error: `the body is larger than ${limit} bytes`, limit }, { close });

/** A field of the payload is missing or wrong. */
export const invalid = (problem: string): Reply => failure(400, problem);
