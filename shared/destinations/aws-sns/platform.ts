import { Type } from 'typebox';
import { isJsonObject } from '../../runtime/json.ts';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import type { RowVerdict, ScriptedAnswer } from '../sdk/platform.ts';
import { anyRows, someText } from '../sdk/platform-schemas.ts';

// Only AWS can verify the signature, so the pattern checks only that the required headers are signed.
const signed =
  /^AWS4-HMAC-SHA256 Credential=[\w/-]+\/sns\/aws4_request, SignedHeaders=(?=[^,]*host)(?=[^,]*x-amz-date)[\w;-]+, Signature=[0-9a-f]{64}$/;

const namespace = 'http://sns.amazonaws.com/doc/2010-03-31/';
const metadata = '<ResponseMetadata><RequestId>f187a3c1-376f-11df-8963-01868b7c937a</RequestId></ResponseMetadata>';

const fifoText = Type.String({ pattern: String.raw`^[\x21-\x7e]{1,128}$` });

const entry = Type.Object(
  {
    Id: Type.String({ pattern: '^[A-Za-z0-9_-]{1,80}$' }),
    Message: someText,
    MessageAttributes: Type.Optional(
      Type.Object({
        entry: Type.Array(
          Type.Object({
            Name: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,256}$' }),
            Value: Type.Object({ DataType: Type.Enum(['String', 'Number', 'Binary']), StringValue: someText }),
          }),
        ),
      }),
    ),
    MessageGroupId: Type.Optional(fifoText),
    MessageDeduplicationId: Type.Optional(fifoText),
  },
  { additionalProperties: false },
);

/**
 * PublishBatch: the response has a result for each message.
 * https://docs.aws.amazon.com/sns/latest/api/API_PublishBatch.html
 */
export const snsPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/',
      credentials: inHeader('authorization', signed),
      headers: { 'content-type': /^application\/x-www-form-urlencoded/ },
      content: 'form',
      parse: readQuery,
      body: Type.Object({
        Action: Type.Literal('PublishBatch'),
        Version: Type.Literal('2010-03-31'),
        TopicArn: Type.String({ pattern: '^arn:aws[a-z-]*:sns:' }),
        PublishBatchRequestEntries: Type.Object({ member: anyRows }),
      }),
      rows: [{ at: 'PublishBatchRequestEntries.member', schema: entry }],
      rowsMax: 10,
    },
  ],
  answers: {
    success: (rows) => published(rows.map((row) => ({ row, problem: undefined }))),
    partial: published,
    refusal: ({ field, message }) => failure(400, 'InvalidParameter', `${field} ${message}`),
    throttled: failure(400, 'Throttling', 'Rate exceeded'),
    endedToken: failure(403, 'ExpiredToken', 'The security token included in the request is expired'),
    tooLarge: failure(400, 'BatchRequestTooLong', 'The length of all the batch messages put together is too long'),
    unavailable: failure(500, 'InternalError', 'Service failure'),
  },
});

/**
 * Parses a form of AWS's query protocol into an object: a name is a path with dots, and list members are numbered
 * from 1. https://docs.aws.amazon.com/sns/latest/dg/sns-making-api-requests.html
 */
function readQuery(body: string): unknown {
  const root: Members = {};
  for (const [name, value] of new URLSearchParams(body)) {
    const path = name.split('.');
    const last = path.pop() ?? '';
    let place = root;
    for (const part of path) {
      const next = (place[part] ??= {});
      // A form that was cut off may have a text where another name needs an object.
      if (typeof next === 'string') return undefined;
      place = next;
    }
    place[last] = value;
  }
  return withLists(root);
}

type Members = { [name: string]: Members | string };

function withLists(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([name, member]) => [name, withLists(member)] as const);
  const isList = entries.length > 0 && entries.every(([name]) => /^[1-9]\d*$/.test(name));
  return isList ? entries.map(([, member]) => member) : Object.fromEntries(entries);
}

function published(verdicts: readonly RowVerdict[]): ScriptedAnswer {
  const members = (wanted: boolean): string =>
    verdicts
      .filter(({ problem }) => (problem === undefined) === wanted)
      .map(({ row, problem }) => `<member>${memberOf(idOf(row), problem?.message)}</member>`)
      .join('');
  return xml(
    200,
    `<PublishBatchResponse xmlns="${namespace}"><PublishBatchResult><Failed>${members(false)}</Failed>` +
      `<Successful>${members(true)}</Successful></PublishBatchResult>${metadata}</PublishBatchResponse>`,
  );
}

function memberOf(id: string, problem: string | undefined): string {
  if (problem === undefined) return `<MessageId>m-${id}</MessageId><Id>${id}</Id>`;
  const fault = '<SenderFault>true</SenderFault>';
  return `<Id>${id}</Id><Code>InvalidParameter</Code><Message>${escaped(problem)}</Message>${fault}`;
}

function failure(status: number, code: string, message: string): ScriptedAnswer {
  const error = `<Error><Type>Sender</Type><Code>${code}</Code><Message>${escaped(message)}</Message></Error>`;
  return xml(status, `<ErrorResponse xmlns="${namespace}">${error}</ErrorResponse>`);
}

function idOf(row: unknown): string {
  const id = isJsonObject(row) ? row['Id'] : undefined;
  return typeof id === 'string' ? escaped(id) : '';
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function xml(status: number, body: string): ScriptedAnswer {
  return { status, headers: { 'content-type': 'text/xml' }, body };
}
