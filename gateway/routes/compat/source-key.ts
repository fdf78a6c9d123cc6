/** The user name of HTTP Basic authentication, in which most libraries send the source key; '' if there is none. */
export function basicUser(authorization: string): string {
  const [scheme, credentials] = authorization.split(' ', 2);
  if (scheme?.toLowerCase() !== 'basic' || credentials === undefined) return '';
  const text = Buffer.from(credentials, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? text : text.slice(0, colon);
}

const keyParameters = ['writeKey', 'api_key', 'token'] as const;

/** The source key of a request, from its Authorization header, else from its body, else from its query. */
export function requestKey(authorization: string, inBody: unknown, query: string): string | undefined {
  const user = authorization === '' ? '' : basicUser(authorization);
  if (user !== '') return user;
  if (typeof inBody === 'string' && inBody !== '') return inBody;
  if (query === '') return undefined;
  const parameters = new URLSearchParams(query);
  const name = keyParameters.find((each) => parameters.has(each));
  return name === undefined ? undefined : (parameters.get(name) ?? undefined);
}
