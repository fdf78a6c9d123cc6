import { UnfitEventError } from './define.ts';
import type { OutboundRequest } from './define.ts';

/**
 * The request, if the platform takes one as large. Throws UnfitEventError: a batch is then halved before anything is
 * sent, and a single event refused.
 */
export function withinBytes(request: OutboundRequest, bodyBytesMax: number): OutboundRequest {
  if (Buffer.byteLength(request.body ?? '', 'utf8') > bodyBytesMax) throw new UnfitEventError('the event is too large');
  return request;
}
