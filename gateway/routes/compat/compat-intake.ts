import { EventSlice } from '../../commit/frame.ts';
import { endHead } from '../../../shared/contracts/events/envelope.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import type { Exchange } from '../../http/exchange.ts';
import { accepted, busy, invalid, jsonReply, tooLarge, unauthorized, unsupportedEncoding } from '../../http/reply.ts';
import type { Reply } from '../../http/reply.ts';
import { Admitted } from '../../ingest/admission.ts';
import type { Admission } from '../../ingest/admission.ts';
import { blankRepeats } from '../../ingest/blank-token.ts';
import type { AcceptedEvent, Intake } from '../../ingest/intake.ts';
import { Inflater } from '../../http/inflate.ts';
import { CompatAnswer, explainRefusal } from './compat-answers.ts';
import type { CompatSettings } from './compat-settings.ts';
import { readLenientJson } from './read-lenient-json.ts';
import { requestKey } from './source-key.ts';
import type { Dialect, Translation } from './translation.ts';

/** What was done to requests beyond reading them, in plain numbers. */
export type CompatCounts = {
  /** Requests with numbers that JSON does not have, which were read as null. */
  mended: number;
};

/** What a request holds whose sender was let in. */
type AdmittedMessages = {
  readonly key: string;
  readonly messages: readonly unknown[];
  readonly body: JsonObject;
  readonly dialect: Dialect;
};

/** An event that waits for the others of its request. */
type Ready = { readonly event: AcceptedEvent; readonly bytes: Buffer };

const malformedGzip = invalid('the body is not valid gzip');
const noMessages = invalid('batch must be an array');

/** How requests of libraries of other services are taken in: read, translated, and from there on as every event is. */
export class CompatIntake {
  readonly counts: CompatCounts = { mended: 0 };
  readonly #admission: Admission;
  readonly #intake: Intake;
  readonly #settings: CompatSettings;
  readonly #inflater: Inflater;

  constructor(admission: Admission, intake: Intake, settings: CompatSettings) {
    this.#admission = admission;
    this.#intake = intake;
    this.#settings = settings;
    this.#inflater = new Inflater(settings.inflate);
  }

  get bodyBytesMax(): number {
    return this.#settings.bodyBytesMax;
  }

  /** The answer to a request that is refused for its headers. These libraries name any content type. */
  refuse(exchange: Exchange): Reply | undefined {
    exchange.rewriteAnswers(explainRefusal);
    const encoding = exchange.head.contentEncoding.toLowerCase();
    return ['', 'identity', 'gzip'].includes(encoding) ? undefined : unsupportedEncoding;
  }

  /** A request in this dialect; its body may be gzip whether a header says so or not. */
  accept(exchange: Exchange, body: Buffer, query: string, dialect: Dialect): void {
    if (!isGzip(body)) return this.#accept(exchange, body, query, dialect);
    // The bytes handed over are gone when this returns.
    const started = this.#inflater.inflate(Buffer.from(body), (result) => {
      if (result.kind === 'body') exchange.attempt(() => this.#accept(exchange, result.body, query, dialect));
      else exchange.send(result.kind === 'malformed' ? malformedGzip : tooLarge(this.#settings.bodyBytesMax));
    });
    if (!started) exchange.send(busy);
  }

  #accept(exchange: Exchange, bytes: Buffer, query: string, dialect: Dialect): void {
    const { limits, rowsMax } = this.#settings;
    const read = readLenientJson(bytes, limits);
    if (read.refusal !== undefined) return exchange.send(read.refusal);
    if (read.mended) this.counts.mended += 1;
    const body = read.value;
    const key = requestKey(exchange.head.authorization, dialect.keyOf(body), query);
    const source = this.#admission.sourceOf(key);
    if (key === undefined || source === undefined) return exchange.send(unauthorized);
    const messages = dialect.messagesOf(body);
    if (messages === undefined) return exchange.send(noMessages);
    if (messages.length > rowsMax) return exchange.send(tooManyMessages(rowsMax));
    const admitted = this.#admission.admit(exchange, source, messages.length);
    if (!(admitted instanceof Admitted)) return exchange.send(admitted);
    if (messages.length === 0) return exchange.send(accepted);
    this.#store(exchange, admitted, { key, messages, body, dialect });
  }

  #store(exchange: Exchange, admitted: Admitted, { key, messages, body, dialect }: AdmittedMessages): void {
    const { source, atMs } = admitted;
    const { timeWindow, eventBytesMax } = this.#settings;
    const answer = new CompatAnswer(exchange, source.tally);
    const ready: Ready[] = [];
    let size = 0;
    for (const message of messages) {
      const translation: Translation = isJsonObject(message)
        ? dialect.translate(message, body, { atMs, timeWindow })
        : notAnObject;
      if ('problem' in translation) {
        answer.invalid(translation.problem);
        continue;
      }
      const bytes = Buffer.from(JSON.stringify(translation.body));
      if (bytes.length > eventBytesMax) {
        answer.invalid(`a message is larger than ${eventBytesMax} bytes`);
        continue;
      }
      // No key rests in the log.
      blankRepeats(bytes, key);
      size += bytes.length;
      const { kind, identity } = translation;
      const id = translation.id ?? this.#intake.newEventId(atMs);
      const bot = this.#intake.botScoreOf(exchange, source, new EventSlice(bytes));
      ready.push({ event: { kind, id, identity, bot }, bytes });
    }
    if (ready.length > 0 && !this.#intake.hasRoom(ready.length, size)) return answer.unavailable(ready.length);
    answer.expect(ready.length);
    if (ready.length === 0) return;
    const start = this.#intake.startOf(exchange, admitted);
    for (const { event, bytes } of ready) {
      const partition = this.#intake.partitionOf(source, event);
      this.#intake.append(partition, endHead(start, event), new EventSlice(bytes), answer, 0);
    }
  }
}

const notAnObject = { problem: 'a message must be an object' } as const;

/** The first two bytes of every gzip stream (RFC 1952), with which no JSON begins. */
const isGzip = (body: Buffer): boolean => body[0] === 0x1f && body[1] === 0x8b;

const tooManyMessages = (limit: number): Reply =>
  jsonReply(413, { success: false, error: `a request has ${limit} messages at most`, limit });
