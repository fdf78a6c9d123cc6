import type { HttpRequest } from 'uWebSockets.js';

/**
 * A request's headers for its route, copied before uWebSockets.js invalidates the request.
 * Large: one object per request, because each part of it would be another allocation on the hot path.
 */
export class RequestHead {
  contentType = '';
  /** -1 if the request has no such header. */
  contentLength = -1;
  contentEncoding = '';
  userAgent = '';
  origin = '';
  referer = '';
  forwardedFor = '';
  traceparent = '';
  cookie = '';
  /** Global Privacy Control. With several headers one `1` is enough; other values are ignored. */
  hasGpc = false;
  /** All headers and the target of the request; set for routes that read them. */
  more: WholeHead | undefined = undefined;
  authorization = '';
  host = '';
  forwardedProto = '';
  /** Earlier attempts of the client's library; '' if it does not send them. */
  retryCount = '';
  /** Whether the client waits for `100 Continue` before it sends the body. */
  expects = false;
  /** Whether two readers of this request could disagree about its end. */
  hostile = false;
  #lengths = 0;
  #encodings = 0;

  add(name: string, value: string): void {
    switch (name) {
      case 'content-length':
        this.#lengths += 1;
        this.contentLength = Number(value);
        break;
      case 'transfer-encoding':
        this.#encodings += 1;
        // The engine treats any value that ends in or contains "chunked" as chunked.
        if (value.toLowerCase() !== 'chunked') this.hostile = true;
        break;
      case 'content-type':
        this.contentType = value;
        break;
      case 'user-agent':
        this.userAgent = value;
        break;
      case 'origin':
        this.origin = value;
        break;
      case 'referer':
        this.referer = value;
        break;
      case 'x-forwarded-for':
        this.forwardedFor = this.forwardedFor === '' ? value : `${this.forwardedFor},${value}`;
        break;
      case 'traceparent':
        this.traceparent = value;
        break;
      case 'sec-gpc':
        this.hasGpc ||= value === '1';
        break;
      case 'content-encoding':
        this.contentEncoding = value;
        break;
      case 'cookie':
        this.cookie = this.cookie === '' ? value : `${this.cookie}; ${value}`;
        break;
      case 'authorization':
        this.authorization = value;
        break;
      case 'x-forwarded-proto':
        this.forwardedProto = value;
        break;
      case 'host':
        this.host = value;
        break;
      case 'x-stainless-retry-count':
        this.retryCount = value;
        break;
      case 'expect':
        this.expects = true;
        break;
      default:
    }
  }

  /** Call after the last header. Repeated framing headers are hostile, because they make request smuggling possible. */
  finish(): void {
    if (this.#lengths + this.#encodings > 1 || Number.isNaN(this.contentLength)) this.hostile = true;
  }
}

/** All headers and the target of a request, for routes that check the signature of its sender. */
export class WholeHead {
  /** Path and query as they were sent. */
  readonly target: string;
  readonly #values = new Map<string, string>();

  constructor(target: string) {
    this.target = target;
  }

  add(name: string, value: string): void {
    this.#values.set(name, value);
  }

  /** A header by its lower-case name; the last one if repeated. Empty if absent. */
  header(name: string): string {
    return this.#values.get(name) ?? '';
  }
}

let reading = new RequestHead();
const addHeader = (name: string, value: string): void => reading.add(name, value);

/** Copies the headers that some route reads; with `keepsAll` all headers. */
export function readHead(request: HttpRequest, keepsAll?: true): RequestHead {
  reading = new RequestHead();
  request.forEach(addHeader);
  reading.finish();
  if (keepsAll) {
    const query = request.getQuery();
    const more = new WholeHead(`${request.getUrl()}${query === '' || query === undefined ? '' : `?${query}`}`);
    request.forEach((name, value) => more.add(name, value));
    reading.more = more;
  }
  return reading;
}

/** Whether the browser used https: the gateway itself speaks TLS (`tls`), or a proxy reports it. */
export const isSecureRequest = ({ forwardedProto }: RequestHead, tls: boolean): boolean =>
  tls || forwardedProto.split(',', 1)[0]?.trim().toLowerCase() === 'https';

/** Names of the coding gzip. x-gzip is equivalent (RFC 9110, 8.4.1.3). */
const gzipCodings = new Set(['gzip', 'x-gzip']);

export const isGzipCoding = (contentEncoding: string): boolean => gzipCodings.has(contentEncoding.trim().toLowerCase());

export const isIdentityCoding = (contentEncoding: string): boolean =>
  contentEncoding === '' || contentEncoding.trim().toLowerCase() === 'identity';

/**
 * Whether a content type is read as JSON: JSON, a format built on it (RFC 6839), text/plain (beacons), a wildcard, or
 * none.
 */
export function isJsonType(contentType: string): boolean {
  if (contentType === 'application/json' || contentType === '') return true;
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return jsonTypes.has(mediaType) || mediaType.endsWith('+json');
}

const jsonTypes: ReadonlySet<string> = new Set(['application/json', 'text/json', 'text/plain', '*/*', '']);

/** A decoded path segment; '' if it is not decodable. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return '';
  }
}
