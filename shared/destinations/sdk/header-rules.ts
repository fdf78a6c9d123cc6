const tokenName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const valueCharactersMax = 8_192;

// The HTTP client sets these itself; the metadata headers would give access to cloud metadata services.
const deniedNames: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'metadata',
  'metadata-flavor',
]);
const deniedPrefixes = ['proxy-', 'x-aws-ec2-', 'sec-'];

/** Whether a user may set a header of this name. */
export function isAllowedHeaderName(name: string): boolean {
  const lower = name.toLowerCase();
  return tokenName.test(name) && !deniedNames.has(lower) && !deniedPrefixes.some((prefix) => lower.startsWith(prefix));
}

/**
 * Whether a header can carry the text unchanged: Latin-1 without control characters except tab (RFC
 * 9110 section 5.5), at most 8,192 characters.
 */
export function isHeaderValue(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  return text.length <= valueCharactersMax && /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}
