import { Type } from 'typebox';
import { isJsonObject } from '../../runtime/json.ts';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import type { RowVerdict } from '../sdk/platform.ts';
import { anyRows } from '../sdk/platform-schemas.ts';

// Only AWS can verify the signature, so the pattern checks only that the required headers are signed.
const signed =
  /^AWS4-HMAC-SHA256 Credential=[\w/-]+\/sqs\/aws4_request, SignedHeaders=(?=[^,]*host)(?=[^,]*x-amz-target)[\w;-]+, Signature=[0-9a-f]{64}$/;

const xmlText = Type.String({ minLength: 1, pattern: '^[\\t\\n\\r\\u0020-\\uD7FF\\uD800-\\uDFFF\\uE000-\\uFFFD]+$' });
const fifoText = Type.String({ pattern: String.raw`^[\x21-\x7e]{1,128}$` });
const entryId = Type.String({ pattern: '^[A-Za-z0-9_-]{1,80}$' });

const entry = Type.Object(
  {
    Id: entryId,
    MessageBody: xmlText,
    MessageAttributes: Type.Optional(
      Type.Record(
        Type.String({ pattern: '^[A-Za-z0-9_.-]{1,256}$' }),
        Type.Object({ DataType: Type.Enum(['String', 'Number', 'Binary']), StringValue: xmlText }),
      ),
    ),
    MessageGroupId: Type.Optional(fifoText),
    MessageDeduplicationId: Type.Optional(fifoText),
  },
  { additionalProperties: false },
);
const fifoEntry = Type.Object({ MessageGroupId: fifoText });

const failure = (status: number, code: string, message: string) => ({
  status,
  body: { __type: `com.amazonaws.sqs#${code}`, message },
});

/**
 * SendMessageBatch: the response has a result for each message.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html
 */
export const sqsPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/',
      credentials: inHeader('authorization', signed),
      headers: { 'x-amz-target': /^AmazonSQS\.SendMessageBatch$/, 'content-type': /^application\/x-amz-json-1\.0$/ },
      content: 'json',
      body: Type.Union([
        Type.Object({ QueueUrl: Type.String({ pattern: String.raw`^https?://.*(?<!\.fifo)$` }), Entries: anyRows }),
        Type.Object({
          QueueUrl: Type.String({ pattern: String.raw`^https?://.*\.fifo$` }),
          Entries: Type.Array(fifoEntry),
        }),
      ]),
      rows: [{ at: 'Entries', schema: entry }],
      rowsMax: 10,
    },
  ],
  answers: {
    success: (rows) => answered(rows.map((row) => ({ row, problem: undefined }))),
    partial: answered,
    refusal: ({ field, message }) => failure(400, 'InvalidParameterValue', `${field} ${message}`),
    throttled: failure(400, 'RequestThrottled', 'Request is throttled'),
    endedToken: failure(403, 'ExpiredToken', 'The security token included in the request is expired'),
    tooLarge: failure(400, 'BatchRequestTooLong', 'Batch requests cannot be longer than 1048576 bytes'),
    unavailable: failure(500, 'InternalError', 'We encountered an internal error'),
  },
});

function answered(verdicts: readonly RowVerdict[]) {
  const idOf = (row: unknown) => (isJsonObject(row) ? row['Id'] : undefined);
  return {
    status: 200,
    body: {
      Successful: verdicts.flatMap(({ row, problem }) =>
        problem === undefined ? [{ Id: idOf(row), MessageId: 'm', MD5OfMessageBody: '0' }] : [],
      ),
      Failed: verdicts.flatMap(({ row, problem }) =>
        problem === undefined
          ? []
          : [{ Id: idOf(row), Code: 'InvalidMessageContents', Message: problem.message, SenderFault: true }],
      ),
    },
  };
}
