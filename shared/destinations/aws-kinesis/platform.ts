import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import { anyRows, someText } from '../sdk/platform-schemas.ts';

// Only AWS can verify the signature, so the pattern checks only that the required headers are signed.
const signed =
  /^AWS4-HMAC-SHA256 Credential=[\w/-]+\/kinesis\/aws4_request, SignedHeaders=(?=[^,]*host)(?=[^,]*x-amz-target)[\w;-]+, Signature=[0-9a-f]{64}$/;

const record = Type.Object({
  Data: Type.String({ pattern: '^[A-Za-z0-9+/]+={0,2}$' }),
  PartitionKey: Type.String({ minLength: 1, maxLength: 256 }),
});

const failure = (code: string, message: string) => ({ status: 400, body: { __type: code, message } });
const stored = (index: number) => ({ SequenceNumber: String(index + 1), ShardId: 'shardId-000000000000' });

/**
 * PutRecords: the response has a result for each record.
 * https://docs.aws.amazon.com/kinesis/latest/APIReference/API_PutRecords.html
 */
export const kinesisPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/',
      credentials: inHeader('authorization', signed),
      headers: { 'x-amz-target': /^Kinesis_20131202\.PutRecords$/, 'content-type': /^application\/x-amz-json-1\.1$/ },
      content: 'json',
      body: Type.Object({ StreamName: someText, Records: anyRows }),
      rows: [{ at: 'Records', schema: record }],
      rowsMax: 500,
    },
  ],
  answers: {
    success: (rows) => ({
      status: 200,
      body: { FailedRecordCount: 0, Records: rows.map((_row, index) => stored(index)) },
    }),
    partial: (verdicts) => ({
      status: 200,
      body: {
        FailedRecordCount: verdicts.filter(({ problem }) => problem !== undefined).length,
        Records: verdicts.map(({ problem }, index) =>
          problem === undefined ? stored(index) : { ErrorCode: 'InvalidRecord', ErrorMessage: problem.message },
        ),
      },
    }),
    refusal: ({ field, message }) => failure('InvalidArgumentException', `${field} ${message}`),
    throttled: failure('ProvisionedThroughputExceededException', 'Rate exceeded for stream'),
    endedToken: failure('ExpiredTokenException', 'The security token included in the request is expired'),
    tooLarge: failure('ValidationException', 'Records size exceeds the limit'),
    unavailable: { status: 500, body: { __type: 'InternalFailure', message: 'internal failure' } },
  },
});
