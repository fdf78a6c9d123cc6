import type { OpenApiPart } from '../../http/route.ts';
import { answer, laterAnswer, object } from '../openapi/parts.ts';

/** The OpenAPI description of an address that imitates another service, whose documentation describes the body. */
export function describeCompat(
  name: string,
  paths: readonly string[],
  summary: string,
  bodyBytesMax: number,
): OpenApiPart {
  return {
    paths: Object.fromEntries(
      paths.map((path, index) => [
        path,
        {
          post: {
            operationId: index === 0 ? name : `${name}-${index + 1}`,
            summary,
            description:
              `The body is JSON of at most ${bodyBytesMax} bytes, with any content type; gzip is accepted. The source key ` +
              'is the user name of HTTP Basic authentication, or is in the body, or in `writeKey` of the query. A message ' +
              'that is not a valid event is skipped and counted. An event older than the time window gets the oldest time in it, ' +
              'an event after the window gets the current time; `time_clamped_from` in its context keeps its own time. An event ' +
              'whose time cannot be read gets the current time; `original_time` keeps the text.',
            requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
            responses: {
              200: answer('Stored', 'Success'),
              400: answer('The body is not JSON, or none of its messages is an event', 'CompatFailure'),
              401: answer('Missing, unknown, disabled or unpublished source key', 'CompatFailure'),
              403: answer("The source's whitelistDomains or whitelistIps refuses the request", 'CompatFailure'),
              413: answer('The body is larger than the limit', 'CompatFailure'),
              415: answer('The body is compressed, but not with gzip', 'CompatFailure'),
              429: laterAnswer(
                'The source is over its rate limit, or waiting events of its account are too old or too many',
                'CompatFailure',
              ),
              503: laterAnswer('The log did not store all events; send the request again', 'CompatFailure'),
            },
          },
        },
      ]),
    ),
    schemas: { CompatFailure: failure },
  };
}

const failure = object({
  success: { const: false },
  error: { type: 'string' },
  code: { type: 'string' },
  message: { type: 'string' },
});
