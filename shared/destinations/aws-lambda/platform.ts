import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import { someText } from '../sdk/platform-schemas.ts';

// Only AWS can verify the signature, so the pattern checks only that the required headers are signed.
const signed =
  /^AWS4-HMAC-SHA256 Credential=[\w/-]+\/lambda\/aws4_request, SignedHeaders=(?=[^,]*host)(?=[^,]*x-amz-date)[\w;-]+, Signature=[0-9a-f]{64}$/;

const failure = (status: number, code: string, message: string) => ({
  status,
  headers: { 'x-amzn-errortype': code },
  body: { Type: 'User', message },
});

const event = Type.Object({
  event: Type.Object({ id: someText, event: someText }),
  visitor: Type.Object({ id: someText }),
});

/** Invocation of a function. https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html */
export const awsLambdaPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/2015-03-31/functions/{name}/invocations',
      credentials: inHeader('authorization', signed),
      headers: { 'x-amz-invocation-type': /^(Event|RequestResponse)$/, 'x-amz-date': /^\d{8}T\d{6}Z$/ },
      content: 'json',
      body: Type.Union([event, Type.Array(event)]),
      bytesMax: 6_291_456,
    },
  ],
  answers: {
    success: () => ({ status: 202 }),
    refusal: ({ message }) => failure(400, 'InvalidRequestContentException', message),
    throttled: { ...failure(429, 'TooManyRequestsException', 'Rate Exceeded.'), headers: { 'retry-after': '7' } },
    endedToken: failure(403, 'ExpiredTokenException', 'The security token included in the request is expired'),
    tooLarge: failure(413, 'RequestTooLargeException', 'Request must be smaller than 1048576 bytes'),
    unavailable: failure(500, 'ServiceException', 'The service encountered an internal error'),
  },
});
