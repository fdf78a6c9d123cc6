import { parseExact, stringifyExact } from '../../../shared/json/exact-numbers.ts';
import { EventSlice } from '../../commit/frame.ts';
import { TrackHeads, endHead, trackHeadParts } from '../../../shared/contracts/events/envelope.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import type { Exchange } from '../../http/exchange.ts';
import {
  accepted,
  busy,
  invalid,
  jsonReply,
  malformedJson,
  tooLarge,
  unauthorized,
  unsupportedEncoding,
} from '../../http/reply.ts';
import type { Reply } from '../../http/reply.ts';
import { Admitted } from '../../ingest/admission.ts';
import type { Admission } from '../../ingest/admission.ts';
import { blankRepeats } from '../../ingest/blank-token.ts';
import type { AcceptedEvent, Intake } from '../../ingest/intake.ts';
import { Inflater } from '../../http/inflate.ts';
import { isGzipCoding, isIdentityCoding } from '../../http/request-head.ts';
import { JsonWriter } from '../../../shared/json/json-writer.ts';
import { textCharactersMax } from '../../../shared/contracts/ingest/payload-fields.ts';
import { CompatAnswer, explainRefusal } from './compat-answers.ts';
import type { CompatSettings } from './compat-settings.ts';
import { readFormData } from './form-data.ts';
import { PlainBatchReader, PlainMessage, UnreadableMessage } from './plain-batch.ts';
import { writtenBytesMax } from './plain-writing.ts';
import { readLenientJson } from './read-lenient-json.ts';
import { basicUser, requestKey } from './source-key.ts';
import type { Dialect, PlainSource, Untranslatable } from './translation.ts';

/** Counts of requests that were changed while they were read. */
export type CompatCounts = {
  /** Requests with numbers that JSON does not have (NaN, Infinity), which were read as null. */
  mended: number;
};

/** The messages of a request, scanned or parsed. */
type ReadMessages = {
  readonly body: JsonObject;
  /** The bytes that contain the plain messages. */
  readonly bytes: Buffer;
  /** Values and plain messages; undefined if the body has no messages. */
  readonly messages: readonly unknown[] | undefined;
};

/** The messages of a request whose source key is valid. */
type AdmittedMessages = {
  readonly key: string;
  readonly messages: readonly unknown[];
  readonly body: JsonObject;
  readonly bytes: Buffer;
  readonly dialect: Dialect;
  readonly sentAtMs: number | undefined;
};

/** A request of a library without events, such as a request for flags. */
export type Question = {
  /** The source key in the body. */
  keyOf(body: unknown): unknown;
  /** Answers when the key is valid, at once or later. */
  answer(exchange: Exchange, body: unknown, key: string): void;
};

/** A written event that waits for the other events of its request. */
type Written = {
  /** Fields that decide the event's partition; a plain message has them itself. */
  readonly of: PlainMessage | Omit<AcceptedEvent, 'bot'>;
  readonly start: number;
  readonly end: number;
};

/** Initial size of the buffer, which grows for a large request. */
const outBytes = 64 * 1024;
const malformedGzip = invalid('the body is not valid gzip');
const noMessages = invalid('batch must be an array');

/** Accepts requests of other services' libraries: reads and translates them, and stores the events like all others. */
export class CompatIntake {
  readonly counts: CompatCounts = { mended: 0 };
  readonly #admission: Admission;
  readonly #intake: Intake;
  readonly #settings: CompatSettings;
  readonly #inflater: Inflater;
  readonly #plain: PlainBatchReader;
  // One buffer for all requests, because they are handled one at a time.
  readonly #out = new JsonWriter(outBytes);

  constructor(admission: Admission, intake: Intake, settings: CompatSettings) {
    this.#admission = admission;
    this.#intake = intake;
    this.#settings = settings;
    this.#inflater = new Inflater(settings.inflate);
    this.#plain = new PlainBatchReader({ ...settings.limits, rowsMax: settings.rowsMax });
  }

  get bodyBytesMax(): number {
    return this.#settings.bodyBytesMax;
  }

  /** The refusal of a request by its headers. The content type is not checked: these libraries send any. */
  refuse(exchange: Exchange): Reply | undefined {
    exchange.rewriteAnswers(explainRefusal);
    const { contentEncoding } = exchange.head;
    return isIdentityCoding(contentEncoding) || isGzipCoding(contentEncoding) ? undefined : unsupportedEncoding;
  }

  /** Handles a request in this dialect. */
  accept(exchange: Exchange, body: Buffer, query: string, dialect: Dialect): void {
    this.#unpack(exchange, body, dialect.takesListsAndForms === true, (unpacked) =>
      this.#accept(exchange, unpacked, query, dialect),
    );
  }

  /** Answers a request without events. Libraries compress such requests as they compress events. */
  ask(exchange: Exchange, body: Buffer, query: string, question: Question): void {
    this.#unpack(exchange, body, true, (unpacked) => {
      const read = readLenientJson(unpacked, this.#settings.limits);
      if (read.refusal !== undefined) return exchange.send(read.refusal);
      const key = requestKey(exchange.head.authorization, question.keyOf(read.value), query);
      const admitted = this.#admission.admitToken(exchange, key, 0);
      if (admitted instanceof Admitted) question.answer(exchange, read.value, key ?? '');
      else exchange.send(admitted);
    });
  }

  /** Decompresses gzip, with or without the header, and reads the `data` field of a form. */
  #unpack(exchange: Exchange, given: Buffer, mayBeForm: boolean, done: (unpacked: Buffer) => void): void {
    const body = (mayBeForm && !isGzip(given) ? readFormData(given) : undefined) ?? given;
    if (!isGzip(body)) return done(body);
    // A key outside of the body is checked before the body is read.
    const user = basicUser(exchange.head.authorization);
    if (user !== '' && this.#admission.sourceOf(user) === undefined) return exchange.send(unauthorized);
    const started = this.#inflater.inflate({
      // The bytes are only valid during this call.
      compressed: Buffer.from(body),
      address: this.#admission.addressOf(exchange),
      done: (result) => {
        if (result.kind === 'body') exchange.attempt(() => done(result.body));
        else exchange.send(result.kind === 'malformed' ? malformedGzip : tooLarge(this.#settings.bodyBytesMax));
      },
    });
    if (!started) exchange.send(busy);
  }

  #accept(exchange: Exchange, given: Buffer, query: string, dialect: Dialect): void {
    exchange.bodyBytes = given.length;
    const { rowsMax } = this.#settings;
    const read = this.#read(exchange, given, dialect);
    if (read === undefined) return;
    const { body, bytes, messages } = read;
    const key =
      requestKey(exchange.head.authorization, dialect.keyOf(body), query) ?? keyOfMessages(dialect, messages, bytes);
    const source = this.#admission.sourceOf(key);
    if (key === undefined || source === undefined) return exchange.send(unauthorized);
    if (messages === undefined) return exchange.send(noMessages);
    if (messages.length > rowsMax) return exchange.send(tooManyMessages(rowsMax));
    const admitted = this.#admission.admit(exchange, source, messages.length);
    if (!(admitted instanceof Admitted)) return exchange.send(admitted);
    if (messages.length === 0) return exchange.send(accepted);
    const sentAtMs = dialect.sentAtOf?.(query);
    this.#store(exchange, admitted, { key, messages, body, bytes, dialect, sentAtMs });
  }

  /** The messages of a body; undefined if the request was answered instead. */
  #read(exchange: Exchange, given: Buffer, dialect: Dialect): ReadMessages | undefined {
    // The buffer holds the request, then the events made from it.
    const bytes = this.#out.begin(dialect.writePlain === undefined ? undefined : given);
    const mayBeList = dialect.takesListsAndForms === true;
    const plain = dialect.writePlain === undefined ? undefined : this.#plain.read(bytes, mayBeList);
    if (plain !== undefined) {
      if (plain.mended) this.counts.mended += 1;
      return { body: plain.top, bytes, messages: plain.messages };
    }
    const read = readLenientJson(given, this.#settings.limits);
    if (read.refusal !== undefined) {
      exchange.send(read.refusal);
      return undefined;
    }
    if (read.mended) this.counts.mended += 1;
    const { value } = read;
    if (isJsonObject(value)) return { body: value, bytes, messages: dialect.messagesOf(value) };
    if (mayBeList) return { body: {}, bytes, messages: value };
    exchange.send(malformedJson);
    return undefined;
  }

  #store(exchange: Exchange, admitted: Admitted, request: AdmittedMessages): void {
    const { source } = admitted;
    const answer = new CompatAnswer(exchange, source.tally);
    const start = this.#intake.startOf(exchange, admitted);
    const written = this.#write(admitted, request, start, answer);
    const out = this.#out;
    const bytes = out.length - request.bytes.length;
    if (written.length > 0 && !this.#intake.hasRoom(written.length, bytes, source.accountId)) {
      return answer.unavailable(written.length);
    }
    answer.expect(written.length);
    if (written.length === 0) return;
    const heads = source.scoresBots ? new TrackHeads(start, textCharactersMax.distinctId) : undefined;
    const slice = new EventSlice(out.bytes, source.accountId);
    for (const { of, start: eventStart, end } of written) {
      slice.end = end;
      // The written event includes its head, unless the head needs further fields.
      const isWhole = of instanceof PlainMessage && heads === undefined;
      slice.start = of instanceof PlainMessage && !isWhole ? of.eventStart : eventStart;
      const bot = this.#intake.botScoreOf(exchange, source, slice);
      if (of instanceof PlainMessage) {
        const partition = this.#intake.partitionOfRow(source, of.row, request.bytes);
        this.#intake.append(partition, heads?.of(of.row, request.bytes, bot) ?? '', slice, answer, 0);
      } else {
        const event = { ...of, bot };
        this.#intake.append(this.#intake.partitionOf(source, event), endHead(start, event), slice, answer, 0);
      }
    }
  }

  /** Writes the events of a request one after the other, and reports messages that are not valid events to `answer`. */
  #write({ atMs }: Admitted, request: AdmittedMessages, start: string, answer: CompatAnswer): readonly Written[] {
    const { key, messages, body, bytes, dialect, sentAtMs } = request;
    const out = this.#out;
    const { beforeId, behindId } = trackHeadParts(start);
    const headStart = out.length;
    out.reserve(beforeId.length);
    out.put(beforeId);
    const source: PlainSource = {
      bytes,
      index: this.#plain.index,
      body,
      head: { start: headStart, end: out.length, behindId },
      arrival: { atMs, timeWindow: this.#settings.timeWindow, sentAtMs },
      context: { member: nothingWritten, start: 0, end: 0 },
    };
    const written: Written[] = [];
    for (const message of messages) {
      const event = this.#writePlain(dialect, message, source) ?? this.#writeParsed(dialect, message, source);
      if ('problem' in event) answer.invalid(event.problem);
      else written.push(event);
    }
    // No key is stored in the log.
    blankRepeats(out.bytes.subarray(bytes.length, out.length), key);
    return written;
  }

  /** Writes a message from its bytes; undefined if it has to be parsed. */
  #writePlain(dialect: Dialect, message: unknown, source: PlainSource): Written | undefined {
    if (!(message instanceof PlainMessage)) return undefined;
    const out = this.#out;
    const start = out.length;
    const { start: headStart, end: headEnd } = source.head;
    out.reserve(writtenBytesMax(message.end - message.start, headEnd - headStart));
    const isWritten = dialect.writePlain?.(message, source, out) === true;
    if (isWritten && out.length - message.eventStart <= this.#settings.eventBytesMax) {
      return { of: message, start, end: out.length };
    }
    out.backTo(start);
    // The context may be in the removed bytes.
    source.context.member = nothingWritten;
    return undefined;
  }

  #writeParsed(dialect: Dialect, message: unknown, source: PlainSource): Written | Untranslatable {
    if (message instanceof UnreadableMessage) return message;
    const { bytes, body, arrival } = source;
    const value = valueOf(message, bytes);
    const translation = isJsonObject(value) ? dialect.translate(value, body, arrival) : notAnObject;
    if ('problem' in translation) return translation;
    const { kind, identity, id = this.#intake.newEventId(arrival.atMs) } = translation;
    const event = Buffer.from(stringifyExact(translation.body, value, body));
    const { eventBytesMax } = this.#settings;
    if (event.length > eventBytesMax) return { problem: `a message is larger than ${eventBytesMax} bytes` };
    const out = this.#out;
    const start = out.length;
    out.reserve(event.length);
    out.put(event);
    return { of: { kind, id, identity }, start, end: out.length };
  }
}

/** The value of a message. Plain messages are parsed here. */
const valueOf = (message: unknown, bytes: Buffer): unknown =>
  message instanceof PlainMessage ? parseExact(bytes.toString('utf8', message.start, message.end)) : message;

function keyOfMessages(dialect: Dialect, messages: readonly unknown[] | undefined, bytes: Buffer): string | undefined {
  if (dialect.keyOfMessages === undefined || messages === undefined) return undefined;
  const key = dialect.keyOfMessages(messages.map((message) => valueOf(message, bytes)));
  return typeof key === 'string' && key !== '' ? key : undefined;
}

const nothingWritten = -1;
const notAnObject = { problem: 'a message must be an object' } as const;

/** The first two bytes of every gzip stream (RFC 1952), with which no JSON begins. */
const isGzip = (body: Buffer): boolean => body[0] === 0x1f && body[1] === 0x8b;

const tooManyMessages = (limit: number): Reply =>
  jsonReply(413, { success: false, error: `a request has ${limit} messages at most`, limit });
