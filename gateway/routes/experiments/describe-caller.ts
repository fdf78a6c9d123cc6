import type { ClientAddress } from '../../../shared/admission/client-address.ts';
import type { Exchange } from '../../http/exchange.ts';

/** Headers that the control plane needs of a caller: its address, its page, and Global Privacy Control. */
export function describeCaller(exchange: Exchange, clientAddress: ClientAddress): Record<string, string> {
  const { origin, referer, userAgent, forwardedFor, hasGpc: gpc } = exchange.head;
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'x-forwarded-for': clientAddress.of(exchange.remoteAddress(), forwardedFor),
  };
  for (const [name, value] of Object.entries({ origin, referer, 'user-agent': userAgent, 'sec-gpc': gpc ? '1' : '' })) {
    const text = asHeader(value);
    if (text !== '') headers[name] = text;
  }
  return headers;
}

/** A header's bytes unchanged, without characters that a header must not contain (RFC 9110, section 5.5). */
function asHeader(value: string): string {
  return Buffer.from(value)
    .toString('latin1')
    .replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '');
}
