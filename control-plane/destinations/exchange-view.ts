import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import type { Exchange, PlatformError } from '../../shared/contracts/events/exchange.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';

const headers = Type.Record(Type.String(), Type.String());
const isCut = Type.Boolean({ description: 'Whether the body was longer than the 2 KiB that are kept.' });

export const platformErrorReply = Type.Object(
  {
    status: Type.Integer(),
    code: nullable(Type.String({ description: "The platform's own code; `code/subcode` if it has both." })),
    message: nullable(
      Type.String({
        description:
          "The platform's message. Values quoted in it are replaced, so that failures with the same message form one group.",
      }),
    ),
  },
  {
    description: "The platform's answer. Null if there was none, and for failures recorded by earlier versions.",
  },
);

/** The request of a failed attempt and its answer, in the form that a client may read. */
export const exchangeReply = Type.Object(
  {
    request: Type.Object({
      method: Type.String(),
      url: Type.String({ description: 'Secrets are masked, here and below.' }),
      headers,
      body: nullable(
        Type.String({
          description: 'Null if there was no body, or if the request contained events of several visitors.',
        }),
      ),
      isCut,
      events: Type.Integer({ minimum: 0, description: 'How many events the request contained.' }),
    }),
    answer: nullable(
      Type.Object({
        status: Type.Integer(),
        headers: {
          ...headers,
          description: 'Request ids, rate limits, Retry-After and the like; others are not kept.',
        },
        body: Type.String(),
        isCut,
      }),
    ),
  },
  {
    description:
      'The last failed request and its answer. They may contain personal data, and are deleted with their event.',
  },
);

/** The members of an exchange that may hold values of a person. */
export const exchangeMembers = ['url', 'headers', 'body'] as const;

export function viewPlatformError(error: PlatformError | undefined): JsonObject | null {
  return error === undefined
    ? null
    : { status: error.status, code: error.code ?? null, message: error.message ?? null };
}

export function viewExchange(exchange: Exchange | undefined): JsonObject | null {
  if (exchange === undefined) return null;
  const { request, answer } = exchange;
  const { method, url, body = null, isCut: isRequestCut = false, events } = request;
  return {
    request: { method, url, headers: request.headers, body, isCut: isRequestCut, events },
    answer:
      answer === undefined
        ? null
        : { status: answer.status, headers: answer.headers, body: answer.body, isCut: answer.isCut ?? false },
  };
}
