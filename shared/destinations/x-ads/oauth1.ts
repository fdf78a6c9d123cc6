import { createHmac, hash } from 'node:crypto';

export type OAuth1Credentials = {
  readonly consumerKey: string;
  readonly consumerSecret: string;
  readonly accessToken: string;
  readonly accessTokenSecret: string;
};

export type OAuth1Request = {
  readonly method: string;
  /** The query of the URL is part of the signature; a JSON body is not. */
  readonly url: string;
  readonly credentials: OAuth1Credentials;
  /** Distinguishes simultaneous requests. The nonce is derived from this text and the time. */
  readonly nonceOf: string;
  readonly nowMs: number;
};

/** The Authorization header of OAuth 1.0a with HMAC-SHA1, by RFC 5849, section 3. */
export function oauth1Header({ method, url, credentials, nonceOf, nowMs }: OAuth1Request): string {
  const { consumerKey, consumerSecret, accessToken, accessTokenSecret } = credentials;
  const { origin, pathname, searchParams } = new URL(url);
  const oauth: readonly (readonly [string, string])[] = [
    ['oauth_consumer_key', consumerKey],
    ['oauth_nonce', hash('sha256', `${nonceOf}\n${nowMs}`, 'hex').slice(0, 32)],
    ['oauth_signature_method', 'HMAC-SHA1'],
    ['oauth_timestamp', String(Math.floor(nowMs / 1_000))],
    ['oauth_token', accessToken],
    ['oauth_version', '1.0'],
  ];
  const parameters = [...oauth, ...searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted()
    .join('&');
  const base = [method, origin + pathname, parameters].map(encode).join('&');
  const key = `${encode(consumerSecret)}&${encode(accessTokenSecret)}`;
  const signature = createHmac('sha1', key).update(base, 'utf8').digest('base64');
  const signed = [...oauth, ['oauth_signature', signature] as const].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `OAuth ${signed.map(([name, value]) => `${name}="${encode(value)}"`).join(', ')}`;
}

/** RFC 3986 percent-encoding, which encodes more characters than encodeURIComponent. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}
