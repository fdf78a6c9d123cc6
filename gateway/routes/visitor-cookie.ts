const cookieName = 'sluice_visitor';
const yearS = 31_536_000;
const ownId = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The visitor of a client: the one an earlier answer left with it, else a new one. */
export function visitorOf(cookieHeader: string, newId: () => string): string {
  return readVisitorCookie(cookieHeader) ?? newId();
}

/** Undefined when there is none or it is not of our making. */
function readVisitorCookie(cookieHeader: string): string | undefined {
  for (const pair of cookieHeader.split(';')) {
    const [name, value] = pair.split('=', 2);
    if (name?.trim() !== cookieName) continue;
    const id = value?.trim() ?? '';
    return ownId.test(id) ? id : undefined;
  }
  return undefined;
}

/** The header that leaves a visitor id with the client, for a year, for this host only, and over https only where it came so. */
export function visitorCookie(visitorId: string, secure: boolean): readonly [string, string] {
  const attributes = `Path=/; Max-Age=${yearS}; SameSite=Lax; HttpOnly${secure ? '; Secure' : ''}`;
  return ['set-cookie', `${cookieName}=${visitorId}; ${attributes}`];
}
