import type { Exchange } from './exchange.ts';
import { unsupportedEncoding, unsupportedType } from './reply.ts';
import type { Reply } from './reply.ts';
import { isJsonType } from './request-head.ts';

/** The answer to a body that is compressed or not JSON by its headers. */
export function refuseNonJson(exchange: Exchange): Reply | undefined {
  const { contentType, contentEncoding } = exchange.head;
  if (!isJsonType(contentType)) return unsupportedType;
  return contentEncoding === '' || contentEncoding.toLowerCase() === 'identity' ? undefined : unsupportedEncoding;
}
