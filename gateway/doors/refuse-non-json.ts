import type { Exchange } from '../http/exchange.ts';
import { unsupportedEncoding, unsupportedType } from '../http/reply.ts';
import type { Reply } from '../http/reply.ts';
import { isJsonType } from '../http/request-head.ts';

/** The answer to a body that is compressed or not JSON by its headers. */
export function refuseNonJson(exchange: Exchange): Reply | undefined {
  const { contentType, contentEncoding } = exchange.head;
  if (!isJsonType(contentType)) return unsupportedType;
  return contentEncoding === '' || contentEncoding.toLowerCase() === 'identity' ? undefined : unsupportedEncoding;
}
