import { stringifyExact } from '../../../shared/json/exact-numbers.ts';
import { isUtf8 } from 'node:buffer';
import { batchPayload, describePayload } from '../../payload/payloads.ts';
import type { BatchPayload, BatchRow } from '../../payload/payloads.ts';
import { describeProblem } from '../../payload/describe-problem.ts';
import { BodyScan, PlainRow, scanBody } from '../../payload/scan-body.ts';
import { EventSlice } from '../../commit/frame.ts';
import type { Admission } from '../../ingest/admission.ts';
import { Admitted } from '../../ingest/admission.ts';
import type { Exchange } from '../../http/exchange.ts';
import {
  busy,
  forbiddenKey,
  holdsNull,
  invalid,
  jsonReply,
  malformedJson,
  notUtf8,
  tooLarge,
  unauthorized,
  unsupportedEncoding,
  unsupportedType,
} from '../../http/reply.ts';
import { isGzipCoding, isIdentityCoding, isJsonType } from '../../http/request-head.ts';
import { BatchAnswer } from './batch-answer.ts';
import type { CheckedBatch, ParsedBatch, RowLimits } from './batch-rows.ts';
import { checkRow, isUtf8Outside, parseBatch } from './batch-rows.ts';
import { blankRepeats, blankToken } from '../../ingest/blank-token.ts';
import type { OpenApiPart, PostRoute } from '../../http/route.ts';
import { Inflater } from '../../http/inflate.ts';
import type { InflateSettings } from '../../http/inflate.ts';
import type { Intake } from '../../ingest/intake.ts';
import { TrackHeads, endHead } from '../../../shared/contracts/events/envelope.ts';
import { textCharactersMax } from '../../../shared/contracts/ingest/payload-fields.ts';
import { hasForbiddenKey, scanRefusal, tooDeep, tooManyKeys } from '../../payload/read-json.ts';
import type { Schema } from '../openapi/parts.ts';
import { answer, jsonContent, object, reference, refusals } from '../openapi/parts.ts';

export type BatchSettings = {
  readonly bodyBytesMax: number;
  readonly rowsMax: number;
  /** Object keys of the whole batch. */
  readonly keysMax: number;
  readonly contextBytesMax: number;
  readonly row: RowLimits;
  readonly gzip: Omit<InflateSettings, 'bytesMax'>;
};

const firstNonAscii = 0x80;
/** The token is searched for in this many bytes before the whole body is decompressed. */
const tokenWithinBytes = 4 * 1024;
const malformedGzip = invalid('the body is not valid gzip');

/** `POST /api/v1/batch`: many events, each checked and answered separately. */
export function createBatchRoute(admission: Admission, intake: Intake, settings: BatchSettings): PostRoute {
  const batches = new Batches(admission, intake, settings);
  return {
    name: 'batch',
    method: 'post',
    paths: ['/api/v1/batch'],
    openapi: describeBatch(settings),
    bodyBytesMax: settings.bodyBytesMax,
    refuse({ head: { contentType, contentEncoding } }) {
      if (!isJsonType(contentType)) return unsupportedType;
      return isIdentityCoding(contentEncoding) || isGzipCoding(contentEncoding) ? undefined : unsupportedEncoding;
    },
    accept(exchange, body) {
      if (isGzipCoding(exchange.head.contentEncoding)) batches.inflate(exchange, body);
      else batches.accept(exchange, body);
    },
  };
}

class Batches {
  readonly #admission: Admission;
  readonly #intake: Intake;
  readonly #settings: BatchSettings;
  readonly #inflater: Inflater;
  readonly #scan = new BodyScan();
  readonly #isKnown = (token: string): boolean => this.#admission.sourceOf(token) !== undefined;

  constructor(admission: Admission, intake: Intake, settings: BatchSettings) {
    this.#admission = admission;
    this.#intake = intake;
    this.#settings = settings;
    this.#inflater = new Inflater({ bytesMax: settings.bodyBytesMax, ...settings.gzip });
  }

  inflate(exchange: Exchange, body: Buffer): void {
    const started = this.#inflater.inflate({
      // The bytes are only valid during this call.
      compressed: Buffer.from(body),
      address: this.#admission.addressOf(exchange),
      // Nearly all bodies begin with their token; after an unknown token the rest is not read.
      isWanted: (beginning) => this.#isWanted(beginning),
      done: (result) => {
        switch (result.kind) {
          case 'body':
            return exchange.attempt(() => this.#acceptUnpacked(exchange, result.body));
          case 'too_large':
            return exchange.send(tooLarge(this.#settings.bodyBytesMax));
          case 'unwanted':
            return exchange.send(unauthorized);
          case 'malformed':
            return exchange.send(malformedGzip);
        }
      },
    });
    if (!started) exchange.send(busy);
  }

  /** Scans a copy: a scan changes bytes, and this body is incomplete. */
  #isWanted(beginning: Buffer): boolean {
    const some = Buffer.from(beginning.subarray(0, tokenWithinBytes));
    return scanBody(this.#scan, some, 1, this.#isKnown) !== 'unknown_token';
  }

  #acceptUnpacked(exchange: Exchange, body: Buffer): void {
    exchange.bodyBytes = body.length;
    this.accept(exchange, body);
  }

  accept(exchange: Exchange, body: Buffer): void {
    const batch = this.#read(exchange, body);
    if (batch === undefined) return;
    const { payload, rows } = batch;
    const answer = new BatchAnswer(exchange, batch.admitted.source.tally, rows.length);
    const ctxJson = this.#contextJson(payload);
    if (ctxJson !== undefined && Buffer.byteLength(ctxJson) > this.#settings.contextBytesMax) {
      return exchange.send(contextTooLarge(this.#settings.contextBytesMax));
    }
    const valid = this.#checkRows(batch, body, answer);
    blankToken(body, this.#scan.tokenStart, this.#scan.tokenEnd, payload.token);
    const bytes = body.length + valid.length * (ctxJson?.length ?? 0);
    if (valid.length === 0 || !this.#intake.hasRoom(valid.length, bytes, batch.admitted.source.accountId)) {
      for (const { index } of valid) answer.rowLost(index);
      return answer.send();
    }
    this.#append(exchange, { ctxJson, valid, ...batch }, body, answer);
  }

  #read(exchange: Exchange, body: Buffer): ReadBatch | undefined {
    const { rowsMax, keysMax, row } = this.#settings;
    const { facts } = this.#scan;
    const problem = scanBody(this.#scan, body, rowsMax, this.#isKnown);
    if (problem !== undefined) return refuse(exchange, scanRefusal(problem));
    if (facts.depth > row.depthMax) return refuse(exchange, tooDeep(this.#scan, body, row.depthMax));
    if (facts.keys > keysMax) return refuse(exchange, tooManyKeys(keysMax));
    if (facts.nulls) return refuse(exchange, holdsNull);
    const utf8 = facts.bits < firstNonAscii || isUtf8(body);
    if (!utf8 && !isUtf8Outside(this.#scan, body)) return refuse(exchange, notUtf8);
    const parsed = parseBatch(this.#scan, body);
    if (parsed === undefined) return refuse(exchange, malformedJson);
    const { top: payload, rows } = parsed;
    const source = this.#admission.sourceOf(payload['token']);
    if (source === undefined) return refuse(exchange, unauthorized);
    if (!batchPayload.Check(payload)) return refuse(exchange, invalid(describeProblem(batchPayload, payload)));
    if (this.#scan.rowCount > rowsMax) return refuse(exchange, tooManyRows(rowsMax));
    if (facts.suspicious && hasForbiddenKey(payload)) return refuse(exchange, forbiddenKey);
    const admitted = this.#admission.admit(exchange, source, rows.length);
    return admitted instanceof Admitted ? { admitted, payload, rows, utf8 } : refuse(exchange, admitted);
  }

  #checkRows({ rows, utf8, admitted }: ReadBatch, body: Buffer, answer: BatchAnswer): ValidRow[] {
    const valid: ValidRow[] = [];
    const of: CheckedBatch = { body, utf8, limits: this.#settings.row, nowMs: admitted.atMs };
    rows.forEach((value, index) => {
      const scanned = this.#scan.rows[index];
      if (scanned === undefined) throw new RangeError(`reading a batch: row ${index} was not scanned`);
      const checked = checkRow(value, scanned, of);
      if (checked.problem === undefined) {
        valid.push({ index, row: checked.row, start: scanned.start, end: scanned.end });
      } else answer.rowInvalid(index, checked.problem);
    });
    return valid;
  }

  #append(
    exchange: Exchange,
    { admitted, payload, ctxJson, valid }: CheckedRows,
    body: Buffer,
    answer: BatchAnswer,
  ): void {
    const { source } = admitted;
    const start = this.#intake.startOf(exchange, admitted, ctxJson);
    const heads = new TrackHeads(start, textCharactersMax.distinctId);
    const slice = new EventSlice(body, source.accountId);
    answer.expect(valid.length);
    for (const { index, row, start: rowStart, end } of valid) {
      slice.start = rowStart;
      slice.end = end;
      const bot = this.#intake.botScoreOf(exchange, source, slice, payload);
      if (row instanceof PlainRow) {
        const partition = this.#intake.partitionOfRow(source, row, body);
        this.#intake.append(partition, heads.of(row, body, bot), slice, answer, index);
      } else {
        blankRowToken(body, rowStart, end, row);
        const event = { kind: 'track', id: row.distinctId, identity: row, bot } as const;
        this.#intake.append(this.#intake.partitionOf(source, event), endHead(start, event), slice, answer, index);
      }
    }
  }

  /** The fields of the batch that apply to all of its rows, as JSON; undefined without any. */
  #contextJson(payload: BatchPayload): string | undefined {
    const { custom_properties, defaultProperties, identityContext, token } = payload;
    if (!custom_properties && !defaultProperties && !identityContext) return undefined;
    const given = {
      custom_properties: custom_properties ?? undefined,
      defaultProperties: defaultProperties ?? undefined,
      identityContext: identityContext ?? undefined,
    };
    const context = stringifyExact(given, payload);
    const bytes = Buffer.from(context);
    blankRepeats(bytes, token);
    return bytes.toString('utf8');
  }
}

type ReadBatch = {
  readonly admitted: Admitted;
  /** The fields of the batch, some of which apply to all of its rows. */
  readonly payload: BatchPayload;
  readonly rows: ParsedBatch['rows'];
  readonly utf8: boolean;
};
type CheckedRows = Pick<ReadBatch, 'admitted' | 'payload'> & {
  readonly ctxJson: string | undefined;
  readonly valid: readonly ValidRow[];
};
type ValidRow = {
  readonly index: number;
  readonly row: BatchRow | PlainRow;
  readonly start: number;
  readonly end: number;
};

function refuse(exchange: Exchange, reply: Parameters<Exchange['send']>[0]): undefined {
  exchange.send(reply);
  return undefined;
}

/** Some libraries also put the key, or another key, into every row. */
function blankRowToken(body: Buffer, start: number, end: number, row: BatchRow & { readonly token?: unknown }): void {
  if (typeof row.token === 'string') blankRepeats(body.subarray(start, end), row.token);
}

const tooManyRows = (limit: number) =>
  jsonReply(413, { success: false, error: `a batch has ${limit} rows at most`, limit });

const contextTooLarge = (limit: number) =>
  jsonReply(413, {
    success: false,
    error: `the context of the batch, which applies to all rows, is larger than ${limit} bytes`,
    limit,
  });

type DescribedBatch = {
  readonly bodyBytesMax: number;
  readonly rowsMax: number;
  readonly contextBytesMax: number;
  readonly row: { readonly bytesMax: number };
};

/** The batch's part of the OpenAPI document. Payload schemas are the ones requests are checked against. */
function describeBatch({ bodyBytesMax, rowsMax, contextBytesMax, row }: DescribedBatch): OpenApiPart {
  const events: Schema = { type: 'array', maxItems: rowsMax, items: reference('BatchRow') };
  const batch = describePayload('batch');
  return {
    paths: {
      '/api/v1/batch': {
        post: {
          operationId: 'batch',
          summary: 'Send many events',
          description:
            `A batch has at most ${rowsMax} rows and ${bodyBytesMax} bytes, a row at most ${row.bytesMax} bytes. ` +
            'Content-Encoding gzip is accepted. defaultProperties, identityContext and custom_properties of the batch, together ' +
            `at most ${contextBytesMax} bytes, apply to all rows; a row's own values win. ` +
            'Retry only the rows that failed with queue_failed.',
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
      BatchPayload: { ...batch, properties: { ...batch.properties, events } },
      BatchRow: describePayload('row'),
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
