import type { ClientAddress } from '../../../shared/admission/client-address.ts';
import type { Exchange } from '../../http/exchange.ts';

/** What the control plane judges a caller by: its address, and the page it is on. */
export function describeCaller(exchange: Exchange, clientAddress: ClientAddress): Record<string, string> {
  const { origin, referer, userAgent, forwardedFor } = exchange.head;
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'x-forwarded-for': clientAddress.of(exchange.remoteAddress(), forwardedFor),
  };
  for (const [name, value] of Object.entries({ origin, referer, 'user-agent': userAgent })) {
    const text = asHeader(value);
    if (text !== '') headers[name] = text;
  }
  return headers;
}

/** A header as it came, byte by byte, but for what may not be sent in one (RFC 9110, section 5.5). */
function asHeader(value: string): string {
  return Buffer.from(value)
    .toString('latin1')
    .replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '');
}
