import type { FastifyReply, FastifyRequest } from 'fastify';
import { ConnectionException, UniqueConstraintViolationException } from '@mikro-orm/core';
import { isPassingFailure } from '../../shared/postgres/database-failure.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { ApiError, conflictCode } from './api-error.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';

const internal = new ApiError(500, 'internal', 'internal server error');
// A retry may succeed, unlike for a name that already exists: a generated name or id differs next time.
const collision = new ApiError(409, 'collision', 'another request has just used the same name or id');
const noDatabase = new ApiError(503, 'unavailable', 'the database cannot be reached or is busy, try again');

const ofFramework: Readonly<Record<string, ApiError>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: new ApiError(415, 'media_type', 'the body must be sent as application/json'),
  FST_ERR_CTP_BODY_TOO_LARGE: new ApiError(
    413,
    'too_large',
    'the body must be at most 1 MiB, or 4 KiB if the address needs no API key',
  ),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: new ApiError(400, 'bad_request', 'Content-Length must be the size of the body'),
  FST_ERR_BAD_URL: new ApiError(400, 'bad_request', 'the address has a malformed percent-encoding'),
  FST_ERR_MAX_PARAM_LENGTH: new ApiError(404, 'not_found', 'this address is not found'),
};

/** The reply to a client for a thrown value. Every unexpected error gets the same 500. */
export function failureOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof UniqueConstraintViolationException) {
    return withCause(collision, error);
  }
  if (error instanceof ConnectionException || isPassingFailure(error)) return withCause(noDatabase, error);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return ofFramework[code] ?? withCause(internal, error);
}

/** Answers with `{error, details?}`. A failure on the server's side is logged with the request's id. */
export function answerFailure(
  failure: ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
  logger: Logger,
): FastifyReply {
  if (failure.status >= 500) {
    const fields = { requestId: request.id, status: failure.status, failure: loggableError(failure.cause) };
    logger.error(fields, 'request failed');
  }
  if (failure.status === 503 || failure.status === 429)
    void reply.header('retry-after', String(failure.retryAfterS ?? 1));
  if (failure.code === conflictCode) void reply.header('x-should-retry', 'false');
  const details = failure.details === undefined ? {} : { details: failure.details };
  return reply.code(failure.status).send({ error: failure.message, ...details });
}

function withCause(failure: ApiError, cause: unknown): ApiError {
  const own = new ApiError(failure.status, failure.code, failure.message, failure.details);
  own.cause = cause;
  return own;
}

/**
 * The fields of an error that may be logged. The database's messages repeat values of the query (a name, a key), so
 * only the code, table, constraint and stack location are kept.
 */
export function loggableError(error: unknown): JsonObject {
  if (!(error instanceof Error)) return { type: typeof error };
  const facts: JsonObject = isJsonObject(error) ? error : {};
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  const ofDatabase = typeof facts['severity'] === 'string' || typeof facts['sqlState'] === 'string';
  return {
    type: error.name,
    code: facts['code'],
    ...(ofDatabase ? { table: facts['table'], constraint: facts['constraint'] } : { message: error.message }),
    stack: frames.join('\n'),
  };
}
