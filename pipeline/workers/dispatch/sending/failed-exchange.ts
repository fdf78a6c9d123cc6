import { secretMask } from '../../../../shared/contracts/config/secrets.ts';
import { exchangeBodyBytesMax } from '../../../../shared/contracts/events/exchange.ts';
import type { Exchange } from '../../../../shared/contracts/events/exchange.ts';
import type { OfferedDestination } from '../../../../shared/destinations/common-settings.ts';
import type { SecretMasker } from '../../../../shared/destinations/mask-secrets.ts';
import type {
  OutboundAnswer,
  OutboundEvent,
  OutboundRequest,
} from '../../../../shared/destinations/sdk/destination.ts';
import { outboundHead } from '../../../../shared/destinations/sdk/event.ts';
import { emailInText, readPlatformError } from '../../../../shared/destinations/sdk/platform-error.ts';
import { authorized } from '../../../../shared/egress/oauth/authorized.ts';

/**
 * Maximum number of characters of each body that are kept until it is masked. It is larger than what is stored, so that
 * a secret at the cut is masked as a whole.
 */
const heldCharsMax = 8 * 1024;
const headersMax = 20;
const headerCharsMax = 300;
const urlCharsMax = 1_000;

/**
 * Headers of an answer that are kept: they help an operator to react, or contain an id that the platform's support asks
 * for.
 */
const answerHeaders =
  /^(?:retry-after|content-type|location|www-authenticate|cf-ray)$|request-?id|correlation-?id|trace-?id|rate-?limit|-usage$/;

/** A failed request and its answer. They are masked when they are first read, since few are ever read. */
export class FailedExchange {
  #held: Held | undefined;
  #exchange: Exchange | undefined;

  constructor(held: Held) {
    this.#held = held;
  }

  /** The exchange with masked secrets and limited sizes. */
  read(): Exchange {
    if (this.#held !== undefined) this.#exchange = describe(this.#held);
    this.#held = undefined;
    // Set by the line above, at the first reading.
    return this.#exchange as Exchange;
  }
}

type Held = {
  readonly request: OutboundRequest;
  readonly body: string | undefined;
  readonly isBodyCut: boolean;
  readonly answer: (Pick<OutboundAnswer, 'status' | 'headers' | 'body'> & { readonly isCut: boolean }) | undefined;
  readonly events: number;
  readonly isOfOneVisitor: boolean;
  readonly maskerOf: NonNullable<OfferedDestination['maskerOf']>;
};

/**
 * Keeps a bounded part of a failed request and its answer; undefined if the destination has no masker for its secrets.
 */
export function failedExchange(
  { maskerOf }: Pick<OfferedDestination, 'maskerOf'>,
  request: OutboundRequest,
  events: readonly OutboundEvent[],
  answer?: OutboundAnswer,
): FailedExchange | undefined {
  if (maskerOf === undefined) return undefined;
  const { body: whole, bodyBytes, ...head } = request;
  const body = whole === undefined ? bodyBytes?.toString('utf8', 0, 2 * heldCharsMax) : whole;
  return new FailedExchange({
    request: { ...head, body: undefined },
    body: ownCopy(body),
    isBodyCut: (body?.length ?? 0) > heldCharsMax,
    answer: answer && heldAnswer(answer),
    events: events.length,
    isOfOneVisitor: isOfOneVisitor(events),
    maskerOf,
  });
}

function heldAnswer({ status, headers, body }: OutboundAnswer): NonNullable<Held['answer']> {
  return { status, headers, body: ownCopy(body) ?? '', isCut: body.length > heldCharsMax };
}

/** Copies a text that is too long, up to the limit: a substring would keep the whole text in memory. */
function ownCopy(text: string | undefined): string | undefined {
  if (text === undefined || text.length <= heldCharsMax) return text;
  return Buffer.from(text.slice(0, heldCharsMax)).toString();
}

function isOfOneVisitor(events: readonly OutboundEvent[]): boolean {
  const [first] = events;
  if (first === undefined) return true;
  const { visitorId } = outboundHead(first);
  return events.every((event) => outboundHead(event).visitorId === visitorId);
}

function describe({ request, body, isBodyCut, answer, events, isOfOneVisitor, maskerOf }: Held): Exchange {
  const mask = maskerOf(request);
  const clean = (text: string, isCut = false): string => {
    const masked = withoutTokens(mask.text(text, isCut));
    return isOfOneVisitor ? masked : withoutContacts(masked);
  };
  const { method, url } = request;
  const shownBody = body === undefined || !isOfOneVisitor ? undefined : excerpt(clean(body, isBodyCut), isBodyCut);
  return {
    request: {
      method,
      url: clean(mask.url(url)).slice(0, urlCharsMax),
      headers: boundedHeaders(mask.headers(authorized(request, secretMask).headers)),
      ...(shownBody === undefined ? {} : { body: shownBody.text, ...(shownBody.isCut && { isCut: true as const }) }),
      events,
    },
    ...(answer === undefined ? {} : { answer: describeAnswer(answer, mask, clean) }),
  };
}

function describeAnswer(
  { status, headers, body, isCut: isHeldCut }: NonNullable<Held['answer']>,
  mask: SecretMasker,
  clean: (text: string, isCut: boolean) => string,
): NonNullable<Exchange['answer']> {
  const masked = clean(body, isHeldCut);
  const { text, isCut } = excerpt(masked, isHeldCut);
  const kept = Object.entries(headers).filter(([name]) => answerHeaders.test(name.toLowerCase()));
  return {
    ...readPlatformError({ status, body: masked }),
    headers: boundedHeaders(mask.headers(Object.fromEntries(kept))),
    body: text,
    ...(isCut && { isCut: true as const }),
  };
}

function boundedHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const some = Object.entries(headers).slice(0, headersMax);
  return Object.fromEntries(
    some.map(([name, value]) => [name.slice(0, headerCharsMax), value.slice(0, headerCharsMax)]),
  );
}

/** The first bytes of a masked text, without an incomplete character at its end. */
function excerpt(text: string, isCutBefore: boolean): { readonly text: string; readonly isCut: boolean } {
  const bytes = Buffer.from(text);
  if (bytes.length <= exchangeBodyBytesMax) return { text, isCut: isCutBefore };
  const cut = bytes.subarray(0, exchangeBodyBytesMax).toString();
  return { text: cut.replace(/\uFFFD+$/, ''), isCut: true };
}

const tokenMember =
  /("[^"]{0,40}(?:token|secret|password|passwd|api_?key|authorization|credential)[^"]{0,20}"\s*:\s*")((?:[^"\\]|\\.)+)/gi;
const bearer = /\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi;
const jwt = /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g;

/** Masks tokens by their form: some tokens are in no setting, such as those that a platform issued. */
function withoutTokens(text: string): string {
  return text
    .replaceAll(tokenMember, `$1${secretMask}`)
    .replaceAll(bearer, `$1 ${secretMask}`)
    .replaceAll(jwt, secretMask);
}

/**
 * Masks contact data. Used if a request has events of several visitors: a dead letter of one visitor must not contain
 * another visitor's data.
 */
function withoutContacts(text: string): string {
  return text
    .replaceAll(emailInText, '…@…')
    .replaceAll(/\b[\da-f]{32,}\b/gi, '…')
    .replaceAll(/\+?\d[\d ().-]{5,}\d/g, '#');
}
