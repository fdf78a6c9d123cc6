/** What travels from the gateway to the resolver: one accepted event as the client sent it, with what the gateway knows. */
export type Envelope = {
  readonly v: 1;
  readonly kind: EnvelopeKind;
  /** The event's id: the client's distinctId, else one the gateway made. */
  readonly id: string;
  readonly account: string;
  readonly source: string;
  /** When the gateway accepted it, in ms since the epoch. */
  readonly at: number;
  readonly test?: true;
  /** The client's address and User-Agent, unless the source excludes them. */
  readonly ip?: string;
  readonly ua?: string;
  /** W3C traceparent of the request, when it carried one. */
  readonly trace?: string;
  /** How likely a bot sent it, 0 to 100; there when the source's bot control asks. See shared/admission/bot-score.ts. */
  readonly bot?: number;
  /** What the batch it came in says for all of its rows; the row's own fields win. */
  readonly ctx?: BatchContext;
  /** The client's JSON object, a track payload, an identify payload or one batch row; its token is blanked. */
  readonly body: Readonly<Record<string, unknown>>;
};

export type EnvelopeKind = 'track' | 'identify';

/** The fields a batch may carry beside its rows. */
export type BatchContext = {
  readonly custom_properties?: Readonly<Record<string, unknown>>;
  readonly defaultProperties?: Readonly<Record<string, unknown>>;
  readonly identityContext?: { readonly ip?: string | null; readonly userAgent?: string | null };
};

/** The part of an envelope that is the same for every event of a source key; built once a revision. */
export function envelopePrefix(source: { readonly account: string; readonly source: string; readonly test: boolean }) {
  const fixed = JSON.stringify({ v: 1, account: source.account, source: source.source });
  return source.test ? `${fixed.slice(0, -1)},"test":true` : fixed.slice(0, -1);
}

/** What the envelopes of one request have in common. */
export type EnvelopeStart = {
  readonly at: number;
  readonly ip?: string | undefined;
  readonly ua?: string | undefined;
  readonly trace?: string | undefined;
  /** A BatchContext as JSON. */
  readonly ctxJson?: string | undefined;
};

/** What is an event's own. */
export type EnvelopeEnd = {
  readonly kind: EnvelopeKind;
  readonly id: string;
  readonly bot?: number | undefined;
};

export type EnvelopeHead = EnvelopeStart & EnvelopeEnd;

/** Everything before the client's bytes. Line = head + body + `}`. */
export function envelopeHead(prefix: string, head: EnvelopeHead): string {
  return endHead(startHead(prefix, head), head);
}

/** The beginning of a head, for all events of a request. */
export function startHead(prefix: string, { at, ip, ua, trace, ctxJson }: EnvelopeStart): string {
  let text = `${prefix},"at":${at}`;
  if (ip !== undefined) text += `,"ip":${quoted(ip)}`;
  if (ua !== undefined) text += `,"ua":${quoted(ua)}`;
  if (trace !== undefined) text += `,"trace":${quoted(trace)}`;
  if (ctxJson !== undefined) text += `,"ctx":${ctxJson}`;
  return text;
}

/** The head of an event that begins with what `startHead` made. */
export function endHead(start: string, { kind, id, bot }: EnvelopeEnd): string {
  const score = bot === undefined ? '' : `,"bot":${bot}`;
  return `${start},"kind":"${kind}","id":${quoted(id)}${score},"body":`;
}

/** Texts that stand in JSON as they are: nearly all that come here, and found out for less than they cost to escape. */
const plainText = /^[ !#-[\]-~]*$/;
const quoted = (text: string): string => (plainText.test(text) ? `"${text}"` : JSON.stringify(text));
