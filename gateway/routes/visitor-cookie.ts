const cookieName = 'sluice_visitor';
const yearS = 31_536_000;
const ownId = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The visitor id from a client's cookie, else a new one. */
export function visitorOf(cookieHeader: string, newId: () => string): string {
  return readVisitorCookie(cookieHeader) ?? newId();
}

/** Undefined without the cookie, or if its value is not an id that the gateway made. */
function readVisitorCookie(cookieHeader: string): string | undefined {
  for (const pair of cookieHeader.split(';')) {
    const [name, value] = pair.split('=', 2);
    if (name?.trim() !== cookieName) continue;
    const id = value?.trim() ?? '';
    return ownId.test(id) ? id : undefined;
  }
  return undefined;
}

/**
 * The Set-Cookie header for a visitor id. The cookie is valid for a year and for this host only; if the request came
 * over https, only over https.
 */
export function visitorCookie(visitorId: string, secure: boolean): readonly [string, string] {
  const attributes = `Path=/; Max-Age=${yearS}; SameSite=Lax; HttpOnly${secure ? '; Secure' : ''}`;
  return ['set-cookie', `${cookieName}=${visitorId}; ${attributes}`];
}
