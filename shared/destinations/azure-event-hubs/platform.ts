import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import { someText } from '../sdk/platform-schemas.ts';

const access = /^(Bearer \S+|SharedAccessSignature sr=https%3A%2F%2F[\w.%-]+&sig=[\w%]+&se=\d{10}&skn=[\w%-]+)$/;

const message = Type.Object(
  {
    Body: someText,
    UserProperties: Type.Optional(
      Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
    ),
    BrokerProperties: Type.Optional(
      Type.Object({ PartitionKey: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })) }),
    ),
  },
  { additionalProperties: false },
);

const failure = (status: number, detail: string, headers: Readonly<Record<string, string>> = {}) => ({
  status,
  headers: { 'content-type': 'application/xml; charset=utf-8', ...headers },
  body: `<Error><Code>${status}</Code><Detail>${detail}</Detail></Error>`,
});

/** Event Hubs stores a whole batch or none. https://learn.microsoft.com/en-us/rest/api/eventhub/send-batch-events */
export const eventHubsPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/{eventHub}/messages',
      credentials: inHeader('authorization', access),
      headers: { 'content-type': /^application\/vnd\.microsoft\.servicebus\.json$/ },
      query: Type.Object({ 'api-version': Type.Literal('2014-01') }),
      content: 'json',
      body: Type.Array(Type.Unknown(), { minItems: 1 }),
      rows: [{ at: '', schema: message }],
      bytesMax: 1_048_576,
    },
  ],
  answers: {
    success: () => ({ status: 201 }),
    refusal: ({ field, message: problem }) => failure(400, `${field} ${problem}`),
    throttled: failure(429, 'The request was terminated because the namespace is being throttled.'),
    endedToken: failure(401, 'ExpiredToken'),
    tooLarge: failure(413, 'The request exceeds the maximum size.'),
    unavailable: failure(503, 'The server is busy.'),
  },
});
