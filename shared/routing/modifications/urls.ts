import { sha256 } from './digests.ts';
import type { ChangeText } from './digests.ts';

type Address = {
  /** `https://`, or empty if the text had no scheme. */
  readonly scheme: string;
  readonly host: string;
  /** `/` at least. */
  readonly path: string;
  readonly query: URLSearchParams;
};

/** Scheme and host: `https://shop.example.com`. */
export const domainOnly: ChangeText = onAddress(({ scheme, host }) => scheme + host);

/** Scheme, host and path. */
export const domainPathOnly: ChangeText = onAddress(({ scheme, host, path }) => scheme + host + path);

/** Scheme, host, path and the utm_* parameters. */
export const domainPathUtms: ChangeText = onAddress(
  ({ scheme, host, path, query }) => scheme + host + path + utms(query),
);

/** Scheme, host and the utm_* parameters. */
export const domainUtms: ChangeText = onAddress(({ scheme, host, query }) => {
  const kept = utms(query);
  return scheme + host + (kept === '' ? '' : `/${kept}`);
});

/** An invented host, always the same for the same host and salt. */
export const fakeDomain: ChangeText = onAddress(({ scheme, host }, salt) => scheme + fakeHost(host, salt));

/** An invented host before the real path. */
export const fakeDomainRealPath: ChangeText = onAddress(
  ({ scheme, host, path }, salt) => scheme + fakeHost(host, salt) + path,
);

/** A subdomain of example.com, which RFC 2606 reserves. */
function fakeHost(host: string, salt: string): string {
  return `site-${sha256(salt + host).slice(0, 12)}.example.com`;
}

function onAddress(write: (address: Address, salt: string) => string): ChangeText {
  return (text, salt) => {
    const address = readAddress(text.trim());
    return address === undefined ? undefined : write(address, salt);
  };
}

/** A URL with a host, or one whose scheme was left out (`example.com/path`). Credentials and fragment are dropped. */
function readAddress(text: string): Address | undefined {
  const isBare = /^[a-z0-9-]+(\.[a-z0-9-]+)+(:\d+)?([/?#]|$)/i.test(text);
  const absolute = isBare ? `https://${text}` : text;
  if (!URL.canParse(absolute)) return undefined;
  const url = new URL(absolute);
  if (url.host === '') return undefined;
  const path = url.pathname === '' ? '/' : url.pathname;
  return { scheme: isBare ? '' : `${url.protocol}//`, host: url.host, path, query: url.searchParams };
}

function utms(query: URLSearchParams): string {
  const kept = new URLSearchParams();
  for (const [name, value] of query) {
    if (name.toLowerCase().startsWith('utm_')) kept.append(name, value);
  }
  const text = kept.toString();
  return text === '' ? '' : `?${text}`;
}
