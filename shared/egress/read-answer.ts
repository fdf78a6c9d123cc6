import { brotliDecompressSync, constants, gunzipSync, inflateSync } from 'node:zlib';
import { answerBodyBytesMax } from './outbound.ts';
import type { OutboundAnswer } from './outbound.ts';

/** The bytes are not an HTTP/1.1 answer, or ended too early. */
export class AnswerError extends Error {
  readonly code: string;

  constructor(code: 'ANSWER_MALFORMED' | 'ANSWER_CUT_SHORT', message: string) {
    super(message);
    this.code = code;
  }
}

/** A response that is complete, or read up to the limit. */
export type ReadAnswer = {
  readonly answer: OutboundAnswer;
  /** How long the connection may stay idle, in ms; 0 if it must not be reused. */
  readonly idleMs: number;
};

/** Limit for the heads and trailers of one response together, and for the line before a chunk. */
const headBytesMax = 16 * 1024;
/** How long a connection may stay idle if the server names no time, in ms. */
const idleByDefaultMs = 4_000;
const idleMaxMs = 600_000;
/** Margin before the server's own timeout, because a request in flight when the server closes is lost. */
const idleMarginMs = 2_000;

const nothing = Buffer.alloc(0);

/** How the end of a body is found. */
type Framing =
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'close' };

type AnswerHead = {
  readonly status: number;
  /** The header lines with their line ends, and the empty line after them. */
  readonly fields: string;
  readonly framing: Framing;
  /** Whether the response may have a body that is not read, because its end is ambiguous. */
  readonly isBodyUnread: boolean;
  /** See ReadAnswer. */
  readonly idleMs: number;
};

type State = 'head' | 'length' | 'close' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailers' | 'whole';

/**
 * Reads the responses of one connection in sequence (RFC 9112), each with a size limit. A status that was read is kept
 * even if the rest is invalid, because the receiver has the event and a retry would deliver it twice; the body is then
 * marked as cut. If the end of a response is uncertain, the connection is not reused, because further bytes may belong
 * to another response.
 */
export class AnswerReader {
  #state: State = 'head';
  #head: AnswerHead | undefined;
  /** Text of the last head, which is not parsed again if the server repeats it, as servers often do. */
  #lastText = '';
  #lastHead: AnswerHead | undefined;
  /** Received part of an incomplete head or line. */
  #pending: Buffer = nothing;
  /** Remaining bytes of the body, or of a chunk. */
  #left = 0;
  /** The body. The unused end of the buffer is for further bytes. */
  #body: Buffer = nothing;
  #bytes = 0;
  #headBytes = 0;

  /** Reads bytes. Returns the response once it is complete, or too long to read further. Throws AnswerError. */
  push(data: Buffer): ReadAnswer | undefined {
    let bytes = data;
    if (this.#pending.length > 0) {
      bytes = Buffer.concat([this.#pending, data]);
      this.#pending = nothing;
    }
    try {
      return this.#readAll(bytes);
    } catch (error) {
      if (this.#head === undefined || !(error instanceof AnswerError)) throw error;
      return this.#finish(false);
    }
  }

  #readAll(bytes: Buffer): ReadAnswer | undefined {
    let at = 0;
    while (at < bytes.length && this.#state !== 'whole') {
      const next = this.#read(bytes, at);
      if (next === undefined) {
        this.#pending = bytes.subarray(at);
        if (this.#pending.length > headBytesMax) throw this.#tooLong(this.#pending.toString('latin1'));
        return undefined;
      }
      at = next;
      if (this.#bytes > answerBodyBytesMax) return this.#finish(false);
    }
    return this.#state === 'whole' ? this.#finish(at === bytes.length) : undefined;
  }

  /** The error for a head or line that is too long. The status of such a head is kept. */
  #tooLong(text: string): AnswerError {
    const status = statusOf(text);
    if (this.#state === 'head' && status >= 200) {
      this.#head = { status, fields: '', framing: noBody, isBodyUnread: true, idleMs: 0 };
    }
    return malformed('a head or a line is too long');
  }

  /** The server closed the connection. Returns the response if its body extends to the close. Throws AnswerError. */
  end(): ReadAnswer {
    if (this.#state === 'close') return this.#finish(false);
    throw new AnswerError('ANSWER_CUT_SHORT', 'reading an answer: the connection was closed before its end');
  }

  /** Reads one step from index `at`. Returns the index after the step; undefined if it needs more bytes. */
  #read(bytes: Buffer, at: number): number | undefined {
    switch (this.#state) {
      case 'head':
        return this.#readHead(bytes, at);
      case 'length':
      case 'chunk':
        return this.#readData(bytes, at);
      case 'close':
        this.#keep(bytes.subarray(at));
        return bytes.length;
      case 'chunk-size':
        return this.#readLine(bytes, at, (line) => this.#beginChunk(line));
      case 'chunk-end':
        return this.#readLine(bytes, at, (line) => {
          if (line !== '') throw malformed('a chunk is longer than its size');
          this.#state = 'chunk-size';
        });
      case 'trailers':
        return this.#readLine(bytes, at, (line) => {
          this.#headBytes += line.length;
          if (this.#headBytes > headBytesMax) throw malformed('the trailers are too long');
          if (line === '') this.#state = 'whole';
        });
      case 'whole':
        return at;
    }
  }

  #readHead(bytes: Buffer, at: number): number | undefined {
    const next = endOfHead(bytes, at);
    if (next === undefined) return undefined;
    const text = bytes.toString('latin1', at, next);
    this.#headBytes += text.length;
    if (this.#headBytes > headBytesMax) throw this.#tooLong(text);
    const head = text === this.#lastText && this.#lastHead !== undefined ? this.#lastHead : readHead(text);
    // Interim responses are dropped.
    if (head.status < 200) return next;
    this.#lastText = text;
    this.#lastHead = head;
    this.#head = head;
    const { framing } = head;
    if (framing.kind === 'length') {
      this.#left = framing.bytes;
      this.#state = framing.bytes === 0 ? 'whole' : 'length';
    } else {
      this.#state = framing.kind === 'chunked' ? 'chunk-size' : 'close';
    }
    return next;
  }

  #readData(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#keep(bytes.subarray(at, end));
    this.#left -= end - at;
    if (this.#left === 0) this.#state = this.#state === 'chunk' ? 'chunk-end' : 'whole';
    return end;
  }

  #readLine(bytes: Buffer, at: number, take: (line: string) => void): number | undefined {
    const end = bytes.indexOf(0x0a, at);
    if (end < 0) return undefined;
    if (end === at || bytes[end - 1] !== 0x0d) throw malformed('a line does not end in CR LF');
    take(bytes.toString('latin1', at, end - 1));
    return end + 1;
  }

  #beginChunk(line: string): void {
    const [, size] = /^([\da-f]{1,8})[\t ]*(?:;|$)/i.exec(line) ?? [];
    if (size === undefined) throw malformed('a chunk has no length');
    this.#left = Number.parseInt(size, 16);
    this.#state = this.#left === 0 ? 'trailers' : 'chunk';
  }

  /** Keeps one buffer, so that a body in many small chunks does not occupy much more memory than its bytes. */
  #keep(data: Buffer): void {
    const bytes = Math.min(this.#bytes + data.length, answerBodyBytesMax);
    if (this.#bytes === 0) {
      this.#body = data.subarray(0, bytes);
    } else if (bytes > this.#bytes) {
      if (bytes > this.#body.length) {
        const larger = Buffer.allocUnsafe(Math.min(2 * bytes, answerBodyBytesMax));
        this.#body.copy(larger, 0, 0, this.#bytes);
        this.#body = larger;
      }
      data.copy(this.#body, this.#bytes, 0, bytes - this.#bytes);
    }
    this.#bytes += data.length;
  }

  #finish(isExact: boolean): ReadAnswer {
    const head = this.#head;
    if (head === undefined) throw malformed('it has no head');
    const hasEnd = this.#state === 'whole' || this.#state === 'close';
    const isWhole = hasEnd && !head.isBodyUnread && this.#bytes <= answerBodyBytesMax;
    const answer = new Answer(head, this.#body.subarray(0, this.#bytes), isWhole);
    this.#state = 'head';
    this.#head = undefined;
    this.#body = nothing;
    this.#bytes = 0;
    this.#headBytes = 0;
    // The connection is not reused if bytes follow the response, since no request asked for them.
    return { answer, idleMs: isExact ? head.idleMs : 0 };
  }
}

const malformed = (problem: string): AnswerError =>
  new AnswerError('ANSWER_MALFORMED', `reading an answer: ${problem}`);

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?\r?\n/;
const field = /^([\w!#$%&'*+\-.^`|~]+):([\t\x20-\x7e\x80-\xff]*)\r$/;
const lengthValue = /^\d{1,15}$/;
const carriageReturn = 0x0d;
const lineFeed = 0x0a;

/** The end of a head, including the empty line; undefined if incomplete. Lines may end without CR (RFC 9112, 2.2). */
function endOfHead(bytes: Buffer, from: number): number | undefined {
  for (let at = bytes.indexOf(lineFeed, from); at >= 0; at = bytes.indexOf(lineFeed, at + 1)) {
    if (bytes[at + 1] === lineFeed) return at + 2;
    if (bytes[at + 1] === carriageReturn && bytes[at + 2] === lineFeed) return at + 3;
  }
  return undefined;
}

/** The status of a head; 0 if it begins with no status line. */
const statusOf = (text: string): number => Number(statusLine.exec(text)?.[2] ?? 0);

function readHead(text: string): AnswerHead {
  const [line, version, code] = statusLine.exec(text) ?? [];
  if (line === undefined) throw malformed('it does not begin with a status');
  const status = Number(code);
  // No request asks to switch protocols.
  if (status === 101) throw malformed('the server changes the protocol');
  let length: string | undefined;
  let coding: string | undefined;
  let isFaulty = !line.endsWith('\r\n');
  let hasLength = true;
  let keepsOpen = version === '1';
  let idleMs = idleByDefaultMs;
  const fields = text.slice(line.length);
  for (const [name, value] of eachField(fields)) {
    switch (name) {
      case 'content-length':
        // RFC 9110, section 8.6: a list is one length if all of its members are the same.
        for (const each of value.split(',')) {
          const one = each.trim();
          hasLength &&= lengthValue.test(one) && Number(length ?? one) === Number(one);
          length = one;
        }
        break;
      case 'transfer-encoding':
        coding = coding === undefined ? value.toLowerCase() : `${coding},${value.toLowerCase()}`;
        break;
      case 'connection':
        keepsOpen = readConnection(value, keepsOpen);
        break;
      case 'keep-alive':
        idleMs = readKeepAlive(value) ?? idleMs;
        break;
      case notAField:
        isFaulty = true;
    }
  }
  // RFC 9112, section 6.1: if an HTTP/1.0 server sends a transfer coding, the connection cannot be trusted.
  if (version === '0' && coding !== undefined) keepsOpen = false;
  const isChunkedTwice = coding !== undefined && coding.indexOf('chunked') !== coding.lastIndexOf('chunked');
  const isUnclear = isFaulty || isChunkedTwice || !hasLength || (length !== undefined && coding !== undefined);
  // A body with an ambiguous end is not read.
  const hasEnd = coding !== undefined || (hasLength && (length !== undefined || !isFaulty));
  const framing = hasEnd ? framingOf(status, length, coding) : noBody;
  return {
    status,
    fields,
    framing,
    isBodyUnread: !hasEnd,
    idleMs: keepsOpen && framing.kind !== 'close' && !isUnclear ? idleMs : 0,
  };
}

const noBody: Framing = { kind: 'length', bytes: 0 };

/** RFC 9112, section 6.3: a coding overrides a length. */
function framingOf(status: number, length: string | undefined, coding: string | undefined): Framing {
  if (status < 200 || status === 204 || status === 304) return noBody;
  if (coding !== undefined) {
    const codings = coding.split(',').map((each) => each.trim());
    if (codings.at(-1) === 'chunked') return { kind: 'chunked' };
    // The old name for no coding (RFC 2616, section 3.6).
    if (coding !== 'identity') return { kind: 'close' };
  }
  return length === undefined ? { kind: 'close' } : { kind: 'length', bytes: Number(length) };
}

function readConnection(value: string, before: boolean): boolean {
  const said = value
    .toLowerCase()
    .split(',')
    .map((each) => each.trim());
  if (said.includes('close')) return false;
  return before || said.includes('keep-alive');
}

/** The server's keep-alive timeout in ms; undefined if it names none. */
function readKeepAlive(value: string): number | undefined {
  const [, seconds] = /(?:^|[,;]|\s)timeout\s*=\s*(\d{1,9})/i.exec(value) ?? [];
  if (seconds === undefined) return undefined;
  return Math.max(0, Math.min(idleMaxMs, Number(seconds) * 1_000 - idleMarginMs));
}

/** Placeholder name for a line that is not a header. */
const notAField = '';

function* eachField(fields: string): Generator<readonly [name: string, value: string]> {
  for (const line of fields.split('\n')) {
    if (line === '' || line === '\r') continue;
    const [, name = notAField, value = ''] = field.exec(line) ?? [];
    yield [name.toLowerCase(), value.trim()];
  }
}

/** Decodes headers and body only when they are read, because most callers read only the status. */
class Answer implements OutboundAnswer {
  readonly status: number;
  readonly #fields: string;
  readonly #bytes: Buffer;
  readonly #isWhole: boolean;

  constructor({ status, fields }: AnswerHead, bytes: Buffer, isWhole: boolean) {
    this.status = status;
    this.#fields = fields;
    this.#bytes = bytes;
    this.#isWhole = isWhole;
  }

  get headers(): Readonly<Record<string, string>> {
    const headers = new Map<string, string>();
    for (const [name, value] of eachField(this.#fields)) {
      if (name === notAField) continue;
      const before = headers.get(name);
      headers.set(name, before === undefined ? value : `${before}, ${value}`);
    }
    return Object.fromEntries(headers);
  }

  /** Decompressed, since some servers compress unasked; empty if decompression fails. */
  get body(): string {
    return this.#unpack()?.toString('utf8') ?? '';
  }

  get isCut(): boolean {
    return !this.#isWhole || this.#unpack() === undefined;
  }

  #unpack(): Buffer | undefined {
    const [, coding = ''] = /^content-encoding:[\t ]*([^\r]*?)[\t ]*\r$/im.exec(this.#fields) ?? [];
    const unpack = unpacking[coding.toLowerCase()];
    if (unpack === undefined) return this.#bytes;
    try {
      return unpack(this.#bytes);
    } catch {
      return undefined;
    }
  }
}

/** Options that also decompress a body that was cut off. */
const partly = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: answerBodyBytesMax };
const unpacking: Readonly<Record<string, ((bytes: Buffer) => Buffer) | undefined>> = {
  gzip: (bytes) => gunzipSync(bytes, partly),
  'x-gzip': (bytes) => gunzipSync(bytes, partly),
  deflate: (bytes) => inflateSync(bytes, partly),
  br: (bytes) =>
    brotliDecompressSync(bytes, {
      finishFlush: constants.BROTLI_OPERATION_FLUSH,
      maxOutputLength: answerBodyBytesMax,
    }),
};
