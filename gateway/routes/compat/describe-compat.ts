import type { OpenApiPart } from '../../http/route.ts';
import { answer, laterAnswer, object } from '../openapi/parts.ts';

/** Describes an address of another service, whose own documentation describes the body. */
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
              `The body is JSON of at most ${bodyBytesMax} bytes, with any content type; gzip is accepted. The source ` +
              'key is the user of HTTP Basic authentication, or stands in the body, or in `writeKey` of the query. A ' +
              'message that is no event is left out and counted; what lies outside the time window is moved to its edge ' +
              'and says so in `time_clamped_from` of its context. The text of a time that cannot be read is kept as `original_time`.',
            requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
            responses: {
              200: answer('Stored', 'Success'),
              400: answer('The body is not JSON, or none of its messages is an event', 'CompatFailure'),
              401: answer('Missing, unknown, disabled or unpublished source key', 'CompatFailure'),
              403: answer("The source's whitelistDomains or whitelistIps refuses the request", 'CompatFailure'),
              413: answer('The body is over the limit', 'CompatFailure'),
              415: answer('The body is compressed in another way than gzip', 'CompatFailure'),
              429: laterAnswer(
                'Too many events for this source, or events of its account wait for too long to be delivered',
                'CompatFailure',
              ),
              503: laterAnswer('The log did not take all events; send the request again', 'CompatFailure'),
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
