import { parseExact } from '../../json/exact-numbers.ts';
import { isJsonObject, quoteJson } from '../../runtime/json.ts';
import type { PayloadFieldName } from '../ingest/payload-fields.ts';
import { assertId } from '../subjects.ts';
import { FrameError, frameLines, parseLine } from './frame.ts';
import { refusedVersion } from '../log-format.ts';

/** An accepted event between the gateway and the resolver: as the client sent it, with the gateway's fields. */
export type Envelope = {
  /** 2 if the event was released from quarantine, see `releasedLine`. */
  readonly v: 1 | 2;
  readonly kind: EnvelopeKind;
  /** The event's id: the client's distinctId, or else an id that the gateway generated. */
  readonly id: string;
  readonly account: string;
  readonly source: string;
  /** When the gateway accepted the event, in ms since the epoch. */
  readonly at: number;
  readonly test?: true;
  /** How many times the event was released from quarantine. */
  readonly release?: number;
  /** The client's address and User-Agent, unless the source excludes them. */
  readonly ip?: string;
  readonly ua?: string;
  /** W3C traceparent of the request, if it had one. */
  readonly trace?: string;
  /** Set if the request had `Sec-GPC: 1`: Global Privacy Control of the browser, or of a server that forwards it. */
  readonly gpc?: true;
  /**
   * Probability of a bot, 0 to 100; present if the source's bot control needs it. See shared/admission/bot-score.ts.
   */
  readonly bot?: number;
  /** The batch's fields that apply to all of its rows; if a row has the same field, the row's applies. */
  readonly ctx?: BatchContext;
  /**
   * The client's JSON object: a track payload, an identify payload or one batch row. Its token is overwritten with
   * blanks.
   */
  readonly body: EnvelopeBody;
};

export type EnvelopeKind = 'track' | 'identify';

/** Only fields of `payloadFields` can be read from a body. */
export type EnvelopeBody = { readonly [Name in PayloadFieldName]?: unknown };

/**
 * The event that merges two ids of one person: its externalId is the previous id, and `external_id` in its
 * userProperties is the new id.
 */
export const aliasEvent = '$alias';

/** The fields that a batch may have in addition to its rows. */
export type BatchContext = {
  readonly custom_properties?: Readonly<Record<string, unknown>>;
  readonly defaultProperties?: Readonly<Record<string, unknown>>;
  readonly identityContext?: { readonly ip?: string | null; readonly userAgent?: string | null };
};

/** The part of an envelope that is the same for every event of a source key; built once per revision. */
export function envelopePrefix(source: { readonly account: string; readonly source: string; readonly test: boolean }) {
  const fixed = JSON.stringify({ v: 1, account: source.account, source: source.source });
  return source.test ? `${fixed.slice(0, -1)},"test":true` : fixed.slice(0, -1);
}

const beforeAccount = Buffer.from('{"v":1,"account":"');
const quoteByte = 0x22;

/**
 * Where the account's id ends in the line at [start, end), if the line begins as `envelopePrefix` writes it; -1 for any
 * other line, which must be parsed. Callers count parsed lines.
 */
export function accountEndOfLine(bytes: Buffer, start: number, end: number): number {
  const accountStart = start + beforeAccount.length;
  if (accountStart > end || bytes.compare(beforeAccount, 0, beforeAccount.length, start, accountStart) !== 0) return -1;
  const accountEnd = bytes.indexOf(quoteByte, accountStart);
  return accountEnd < end ? accountEnd : -1;
}

/** The account id in a line that begins at `start`; `accountEnd` is the result of `accountEndOfLine`. */
export function accountOfLine(bytes: Buffer, start: number, accountEnd: number): string {
  return bytes.toString('utf8', start + beforeAccount.length, accountEnd);
}

/** The fields that all envelopes of one request share. */
export type EnvelopeStart = {
  readonly at: number;
  readonly ip?: string | undefined;
  readonly ua?: string | undefined;
  readonly trace?: string | undefined;
  readonly gpc?: boolean | undefined;
  /** A BatchContext as JSON. */
  readonly ctxJson?: string | undefined;
};

/** The fields that differ between the envelopes of one request. */
export type EnvelopeEnd = {
  readonly kind: EnvelopeKind;
  readonly id: string;
  readonly bot?: number | undefined;
};

export type EnvelopeHead = EnvelopeStart & EnvelopeEnd;

/** The text of a line before the client's bytes. A line is this head, the body and `}`. */
export function envelopeHead(prefix: string, head: EnvelopeHead): string {
  return endHead(startHead(prefix, head), head);
}

/** The start of a head, which is the same for all events of a request. */
export function startHead(prefix: string, { at, ip, ua, trace, gpc, ctxJson }: EnvelopeStart): string {
  let text = `${prefix},"at":${at}`;
  if (ip !== undefined) text += `,"ip":${quoteJson(ip)}`;
  if (ua !== undefined) text += `,"ua":${quoteJson(ua)}`;
  if (trace !== undefined) text += `,"trace":${quoteJson(trace)}`;
  if (gpc === true) text += ',"gpc":true';
  if (ctxJson !== undefined) text += `,"ctx":${ctxJson}`;
  return text;
}

/** Completes the head of an event; `start` is the result of `startHead`. */
export function endHead(start: string, { kind, id, bot }: EnvelopeEnd): string {
  const score = bot === undefined ? '' : `,"bot":${bot}`;
  return `${start},"kind":"${kind}","id":${quoteJson(id)}${score}${bodyKey}`;
}

/** The text before the body. Earlier in the line it can occur only if the batch has fields for all of its rows. */
export const bodyKey = ',"body":';

/** Makes a whole line from a body that is text. For a body that is bytes, see `FrameWriter.appendEnvelope`. */
export function envelopeLine(head: string, bodyJson: string): string {
  return `${head}${bodyJson}}`;
}

/** The range [idStart, idEnd) of an id without escapes in a body. */
type TextPlace = { readonly idStart: number; readonly idEnd: number };

const afterId = Buffer.from(`"${bodyKey}`);

/** The text before and after the id in the head of a track; `start` is the result of `startHead`. */
export const trackHeadParts = (start: string): { readonly beforeId: Buffer; readonly behindId: Buffer } => ({
  beforeId: Buffer.from(`${start},"kind":"track","id":"`),
  behindId: afterId,
});

/**
 * Makes the heads of many tracks that begin alike: usually only the id differs, and it can be copied from the body. The
 * result equals that of `endHead`.
 */
export class TrackHeads {
  readonly #start: string;
  readonly #bytes: Buffer;
  readonly #startBytes: number;

  /** `start` is the result of `startHead`; every head that this instance makes begins with it. */
  constructor(start: string, idBytesMax: number) {
    this.#start = start;
    const { beforeId } = trackHeadParts(start);
    this.#startBytes = beforeId.length;
    this.#bytes = Buffer.allocUnsafe(beforeId.length + idBytesMax + afterId.length);
    this.#bytes.set(beforeId);
  }

  /** The head of an event whose id is in `body`; valid until the next call. */
  of({ idStart, idEnd }: TextPlace, body: Buffer, bot: number | undefined): string | Uint8Array {
    if (bot !== undefined)
      return endHead(this.#start, { kind: 'track', id: body.toString('utf8', idStart, idEnd), bot });
    const bytes = this.#bytes;
    let at = this.#startBytes;
    // Both texts are so short that a call of `copy` would cost more than these loops.
    for (let i = idStart; i < idEnd; i += 1, at += 1) bytes[at] = body[i] as number;
    for (let i = 0; i < afterId.length; i += 1, at += 1) bytes[at] = afterId[i] as number;
    return bytes.subarray(0, at);
  }
}

/**
 * Reads one line of an ingest frame. Throws FrameError or SubjectError for an envelope that this build cannot process.
 */
export function readEnvelope(line: string): Envelope {
  const value = parseLine(line, undefined, parseExact);
  if (!isJsonObject(value)) throw new FrameError('reading a frame: a line is no object');
  if (value['v'] !== 1 && value['v'] !== 2) {
    throw new FrameError(`reading a frame: envelope ${refusedVersion(value['v'], 2)}`);
  }
  const { v, release, account, source, id, at, kind, body } = value;
  const complete =
    typeof account === 'string' &&
    typeof source === 'string' &&
    typeof id === 'string' &&
    typeof at === 'number' &&
    (kind === 'track' || kind === 'identify') &&
    isJsonObject(body) &&
    (v === 1 || typeof release === 'number');
  if (!complete)
    throw new FrameError('reading a frame: an envelope lacks a valid account, source, id, at, kind, body or release');
  assertId(account);
  return value as unknown as Envelope;
}

/**
 * Size of the client's body in bytes, without the batch's fields; `line` is the envelope's line. If the batch has
 * fields, a row that itself contains a `body` is counted too low.
 */
export function bodyBytes(line: string, { ctx }: Envelope): number {
  // The batch's fields precede the body and may contain the same characters.
  const at = ctx === undefined ? line.indexOf(bodyKey) : line.lastIndexOf(bodyKey);
  return Buffer.byteLength(line.slice(at + bodyKey.length, -1));
}

/** Reads all of a frame. Throws as `readEnvelope` does. */
export function decodeEnvelopes(bytes: Uint8Array): Envelope[] {
  return frameLines(bytes).map(readEnvelope);
}
