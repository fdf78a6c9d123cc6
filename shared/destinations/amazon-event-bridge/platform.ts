import { Type } from 'typebox';
import { isJsonObject } from '../../runtime/json.ts';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import type { PlatformProblem } from '../sdk/platform.ts';
import { anyRows, epochSeconds, someText } from '../sdk/platform-schemas.ts';

// Only AWS can verify the signature, so the pattern checks only that the required headers are signed.
const signed =
  /^AWS4-HMAC-SHA256 Credential=[\w/-]+\/events\/aws4_request, SignedHeaders=(?=[^,]*host)(?=[^,]*x-amz-target)[\w;-]+, Signature=[0-9a-f]{64}$/;

const entry = Type.Object(
  {
    EventBusName: Type.Optional(Type.String({ minLength: 1, maxLength: 1_600 })),
    Source: someText,
    DetailType: Type.String({ minLength: 1, maxLength: 128 }),
    Detail: someText,
    Time: Type.Optional(epochSeconds),
    Resources: Type.Optional(Type.Array(Type.String())),
    TraceHeader: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  },
  { additionalProperties: false },
);

const failure = (status: number, code: string, message: string) => ({ status, body: { __type: code, message } });
const accepted = (index: number) => ({ EventId: `11710aed-b79e-4468-a20b-${String(index).padStart(12, '0')}` });

/**
 * PutEvents: the response has a result for each entry.
 * https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html
 */
export const eventBridgePlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/',
      credentials: inHeader('authorization', signed),
      headers: { 'x-amz-target': /^AWSEvents\.PutEvents$/, 'content-type': /^application\/x-amz-json-1\.1$/ },
      content: 'json',
      body: Type.Object({ Entries: anyRows }),
      rows: [{ at: 'Entries', schema: entry, check: malformedDetail }],
      rowsMax: 10,
    },
  ],
  answers: {
    success: (rows) => ({
      status: 200,
      body: { FailedEntryCount: 0, Entries: rows.map((_row, index) => accepted(index)) },
    }),
    partial: (verdicts) => ({
      status: 200,
      body: {
        FailedEntryCount: verdicts.filter(({ problem }) => problem !== undefined).length,
        Entries: verdicts.map(({ problem }, index) =>
          problem === undefined
            ? accepted(index)
            : {
                ErrorCode: problem.field.endsWith('Detail') ? 'MalformedDetail' : 'InvalidArgument',
                ErrorMessage: problem.message,
              },
        ),
      },
    }),
    refusal: ({ field, message }) => failure(400, 'ValidationException', `${field} ${message}`),
    throttled: failure(400, 'ThrottlingException', 'Rate exceeded'),
    endedToken: failure(400, 'ExpiredTokenException', 'The security token included in the request is expired'),
    tooLarge: failure(400, 'ValidationException', 'Total size of the entries in the request is over the limit.'),
    unavailable: failure(500, 'InternalException', 'Internal failure'),
  },
});

function malformedDetail(row: unknown): PlatformProblem | undefined {
  const detail = isJsonObject(row) ? row['Detail'] : undefined;
  try {
    if (isJsonObject(JSON.parse(String(detail)))) return undefined;
  } catch {
    // If the detail is not JSON, the problem below is returned.
  }
  return { field: 'Detail', message: 'Detail is malformed.' };
}
