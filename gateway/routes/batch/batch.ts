import { isUtf8 } from 'node:buffer';
import { batchPayload } from '../../payload/batch-payload.ts';
import type { BatchPayload, BatchRow } from '../../payload/batch-payload.ts';
import { describeProblem } from '../../payload/describe-problem.ts';
import { BodyScan, PlainRow, scanBody } from '../../json/scan-body.ts';
import type { PublishedSource } from '../../ingest/published-source.ts';
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
  unsupportedEncoding,
  unsupportedType,
} from '../../http/reply.ts';
import { isJsonType } from '../../http/request-head.ts';
import { BatchAnswer } from './batch-answer.ts';
import { checkRow, isUtf8Outside } from './batch-rows.ts';
import type { RowLimits } from './batch-rows.ts';
import { blankRepeats, blankToken } from '../../ingest/blank-token.ts';
import type { PostRoute } from '../../http/route.ts';
import { Inflater } from './inflate.ts';
import type { Intake } from '../../ingest/intake.ts';
import { parseBatch } from './parse-batch.ts';
import type { ParsedBatch } from './parse-batch.ts';
import { TrackHeads } from '../../../shared/contracts/events/envelope.ts';
import { textCharactersMax } from '../../payload/payload-fields.ts';
import { hasForbiddenKey, scanRefusal, tooDeep, tooManyKeys } from '../../json/read-json.ts';

export type BatchSettings = {
  readonly bodyBytesMax: number;
  readonly rowsMax: number;
  /** Object keys of the whole batch. */
  readonly keysMax: number;
  readonly contextBytesMax: number;
  readonly row: RowLimits;
  readonly gzipRatioMax: number;
  readonly gzipInFlightMax: number;
};

const firstNonAscii = 0x80;
const malformedGzip = invalid('the body is not valid gzip');

/** `POST /api/v1/batch`: many events, each checked and answered for itself. */
export function createBatchRoute(intake: Intake, settings: BatchSettings): PostRoute {
  const batches = new Batches(intake, settings);
  return {
    name: 'batch',
    method: 'post',
    paths: ['/api/v1/batch'],
    bodyBytesMax: settings.bodyBytesMax,
    refuse({ head }) {
      if (!isJsonType(head.contentType)) return unsupportedType;
      return ['', 'identity', 'gzip'].includes(head.contentEncoding.toLowerCase()) ? undefined : unsupportedEncoding;
    },
    accept(exchange, body) {
      if (exchange.head.contentEncoding.toLowerCase() === 'gzip') batches.inflate(exchange, body);
      else batches.accept(exchange, body);
    },
  };
}

class Batches {
  readonly #intake: Intake;
  readonly #settings: BatchSettings;
  readonly #inflater: Inflater;
  readonly #scan = new BodyScan();

  constructor(intake: Intake, settings: BatchSettings) {
    this.#intake = intake;
    this.#settings = settings;
    const { bodyBytesMax, gzipRatioMax, gzipInFlightMax } = settings;
    this.#inflater = new Inflater({ bytesMax: bodyBytesMax, ratioMax: gzipRatioMax, inFlightMax: gzipInFlightMax });
  }

  inflate(exchange: Exchange, body: Buffer): void {
    // The bytes handed over are gone when this returns.
    const started = this.#inflater.inflate(Buffer.from(body), (result) => {
      if (result.kind === 'body') exchange.attempt(() => this.accept(exchange, result.body));
      else exchange.send(result.kind === 'malformed' ? malformedGzip : tooLarge(this.#settings.bodyBytesMax));
    });
    if (!started) exchange.send(busy);
  }

  accept(exchange: Exchange, body: Buffer): void {
    const batch = this.#read(exchange, body);
    if (batch === undefined) return;
    const { source, payload } = batch;
    const answer = new BatchAnswer(exchange, source.tally, batch.rows.length);
    const ctxJson = this.#contextJson(payload);
    if (ctxJson !== undefined && Buffer.byteLength(ctxJson) > this.#settings.contextBytesMax) {
      return exchange.send(contextTooLarge(this.#settings.contextBytesMax));
    }
    const rows = this.#checkRows(batch, body, answer, exchange.admittedAtMs);
    blankToken(body, this.#scan.tokenStart, this.#scan.tokenEnd, payload.token);
    this.#append(exchange, source, payload, ctxJson, rows, body, answer);
  }

  #read(exchange: Exchange, body: Buffer): ReadBatch | undefined {
    const { rowsMax, keysMax, row } = this.#settings;
    const { facts } = this.#scan;
    const problem = scanBody(this.#scan, body, rowsMax);
    if (problem !== undefined) return refuse(exchange, scanRefusal(problem));
    if (facts.depth > row.depthMax) return refuse(exchange, tooDeep(this.#scan, body, row.depthMax));
    if (facts.keys > keysMax) return refuse(exchange, tooManyKeys(keysMax));
    if (facts.nulls) return refuse(exchange, holdsNull);
    const utf8 = facts.bits < firstNonAscii || isUtf8(body);
    if (!utf8 && !isUtf8Outside(this.#scan, body)) return refuse(exchange, notUtf8);
    const parsed = parseBatch(this.#scan, body);
    if (parsed === undefined) return refuse(exchange, malformedJson);
    const { top: payload, rows } = parsed;
    const source = this.#intake.admission.authenticate(exchange, payload['token']);
    if (source === undefined) return undefined;
    if (!batchPayload.Check(payload)) return refuse(exchange, invalid(describeProblem(batchPayload, payload)));
    if (this.#scan.rowCount > rowsMax) return refuse(exchange, tooManyRows(rowsMax));
    if (facts.suspicious && hasForbiddenKey(payload)) return refuse(exchange, forbiddenKey);
    if (!this.#intake.admission.admit(exchange, source, rows.length)) return undefined;
    return { source, payload, rows, utf8 };
  }

  #checkRows({ rows, utf8 }: ReadBatch, body: Buffer, answer: BatchAnswer, nowMs: number): ValidRow[] {
    const valid: ValidRow[] = [];
    rows.forEach((value, index) => {
      const scanned = this.#scan.rows[index];
      if (scanned === undefined) throw new RangeError(`reading a batch: row ${index} was not scanned`);
      const checked = checkRow(value, scanned, body, utf8, this.#settings.row, nowMs);
      if (checked.problem === undefined) {
        valid.push({ index, row: checked.row, start: scanned.start, end: scanned.end });
      } else answer.rowInvalid(index, checked.problem);
    });
    return valid;
  }

  #append(
    exchange: Exchange,
    source: PublishedSource,
    payload: BatchPayload,
    ctxJson: string | undefined,
    rows: readonly ValidRow[],
    body: Buffer,
    answer: BatchAnswer,
  ): void {
    const bytes = body.length + rows.length * (ctxJson?.length ?? 0);
    if (rows.length === 0 || !this.#intake.commit.hasRoom(rows.length, bytes)) {
      for (const { index } of rows) answer.rowLost(index);
      return answer.send();
    }
    const context = this.#intake.contextOf(exchange, source, ctxJson);
    const heads = new TrackHeads(context.head, textCharactersMax.distinctId);
    answer.expect(rows.length);
    for (const { index, row, start, end } of rows) {
      const bot = this.#intake.botScoreOf(exchange, source, body, start, end, payload);
      if (row instanceof PlainRow) {
        const head = heads.of(row, body, bot);
        this.#intake.appendPlain(source, head, row, body, start, end, answer, index);
      } else {
        blankRowToken(body, start, end, row);
        const event = { kind: 'track', id: row.distinctId, identity: row, bot } as const;
        this.#intake.append(context, event, body, start, end, answer, index);
      }
    }
  }

  /** What the batch says for all of its rows, as JSON; undefined when that is nothing. */
  #contextJson(payload: BatchPayload): string | undefined {
    const { custom_properties, defaultProperties, identityContext, token } = payload;
    if (!custom_properties && !defaultProperties && !identityContext) return undefined;
    const context = JSON.stringify({
      custom_properties: custom_properties ?? undefined,
      defaultProperties: defaultProperties ?? undefined,
      identityContext: identityContext ?? undefined,
    });
    const bytes = Buffer.from(context);
    blankRepeats(bytes, token);
    return bytes.toString('utf8');
  }
}

type ReadBatch = {
  readonly source: PublishedSource;
  /** What it says for all rows. */
  readonly payload: BatchPayload;
  readonly rows: ParsedBatch['rows'];
  readonly utf8: boolean;
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

/** Some libraries put the key into every row as well, or another one. */
function blankRowToken(body: Buffer, start: number, end: number, row: BatchRow & { readonly token?: unknown }): void {
  if (typeof row.token === 'string') blankRepeats(body.subarray(start, end), row.token);
}

const tooManyRows = (limit: number) =>
  jsonReply(413, { success: false, error: `a batch has ${limit} rows at most`, limit });

const contextTooLarge = (limit: number) =>
  jsonReply(413, { success: false, error: `what a batch says for all rows is larger than ${limit} bytes`, limit });
