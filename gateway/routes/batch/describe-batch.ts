import type { OpenApiPart } from '../../http/route.ts';
import { BatchPayload, BatchRow } from '../../payload/batch-payload.ts';
import { answer, jsonContent, object, reference, refusals } from '../openapi/parts.ts';
import type { Schema } from '../openapi/parts.ts';

export type DescribedBatch = {
  readonly bodyBytesMax: number;
  readonly rowsMax: number;
  readonly row: { readonly bytesMax: number };
};

/** The batch's part of the OpenAPI document. Payload schemas are the ones requests are checked against. */
export function describeBatch({ bodyBytesMax, rowsMax, row }: DescribedBatch): OpenApiPart {
  const events: Schema = { type: 'array', maxItems: rowsMax, items: reference('BatchRow') };
  return {
    paths: {
      '/api/v1/batch': {
        post: {
          operationId: 'batch',
          summary: 'Send many events',
          description:
            `A batch has ${rowsMax} rows and ${bodyBytesMax} bytes at most, a row ${row.bytesMax} bytes. ` +
            'Content-Encoding gzip is read. defaultProperties, identityContext and custom_properties beside the rows hold for ' +
            "all of them; a row's own win. Retry only the rows that failed with queue_failed.",
          requestBody: { required: true, content: jsonContent('BatchPayload') },
          responses: {
            200: answer('Every row is stored', 'BatchSuccess'),
            207: answer('Some rows are stored', 'BatchMixed'),
            ...refusals('BatchFailure'),
          },
        },
      },
    },
    schemas: {
      BatchPayload: { ...BatchPayload, properties: { ...BatchPayload.properties, events } },
      BatchRow,
      BatchSuccess: batchResult(true),
      BatchMixed: batchResult(false),
      BatchFailure: batchFailure,
      RowResult: rowResult,
    },
  };
}

const rowResult: Schema = object(
  {
    index: { type: 'integer' },
    success: { type: 'boolean' },
    code: { enum: ['invalid_event', 'queue_failed'] },
    message: { type: 'string' },
  },
  ['index', 'success'],
);

const results: Schema = { type: 'array', items: reference('RowResult') };
const batchResult = (success: boolean): Schema =>
  object({ success: { const: success }, accepted: { type: 'integer' }, failed: { type: 'integer' }, results });
const batchFailure: Schema = object(
  {
    success: { const: false },
    error: { type: 'string' },
    limit: { type: 'integer', description: 'With 413: the limit in rows or bytes' },
    retryable: { type: 'boolean' },
    results,
  },
  ['success', 'error'],
);
