import { isIP } from 'node:net';
import { browserContext } from './browser-context.ts';
import { UnfitEventError } from './destination.ts';
import type { SentEvent } from './event.ts';
import { isHeaderValue } from './header-rules.ts';

/**
 * Headers for a platform that identifies the visitor by the connection: the browser's User-Agent, and
 * the IP address in X-Forwarded-For. Unknown values are left out.
 */
export function visitorHeaders(event: SentEvent): Readonly<Record<string, string>> {
  const { userAgent } = browserContext(event);
  const ip = visitorIp(event);
  return {
    ...(userAgent !== undefined && isHeaderValue(userAgent) ? { 'user-agent': userAgent } : {}),
    ...(ip === undefined ? {} : { 'x-forwarded-for': ip }),
  };
}

/** The visitor's IP address; undefined if it is invalid or not of the required version. */
export function visitorIp(event: SentEvent, version?: 4 | 6): string | undefined {
  const { ip } = browserContext(event);
  const found = ip === undefined ? 0 : isIP(ip);
  return found !== 0 && (version === undefined || found === version) ? ip : undefined;
}

/**
 * The visitor's IP address, for platforms that identify visitors by the address alone. Throws
 * UnfitEventError if `visitorIp` finds none.
 */
export function neededIp(event: SentEvent, platform: string, version?: 4 | 6): string {
  const ip = visitorIp(event, version);
  const which = version === undefined ? 'an IP address' : `an IPv${version} address`;
  if (ip === undefined) throw new UnfitEventError(`${platform} needs ${which} of the visitor`);
  return ip;
}
