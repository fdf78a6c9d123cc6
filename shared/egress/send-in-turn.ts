import type { OutboundRequest } from './outbound.ts';
import type { SendResult, Sender } from './sender.ts';

/** The last request that was sent, its result, and the number of requests sent. */
export type SentInTurn = {
  readonly request: OutboundRequest;
  readonly result: SendResult;
  readonly requests: number;
};

/** Sends a request and its follow-up requests, up to the first that is not accepted. */
export async function sendInTurn(
  sender: Pick<Sender, 'send'>,
  first: OutboundRequest,
  mayBegin?: () => boolean,
): Promise<SentInTurn> {
  let request = first;
  for (let requests = 1; ; requests += 1) {
    const result = await sender.send(request, mayBegin);
    const next = followerOf(request, result);
    if (next === undefined) return { request, result, requests };
    request = next;
  }
}

function followerOf(request: OutboundRequest, result: SendResult): OutboundRequest | undefined {
  const isAccepted = result.kind === 'answered' && result.answer.status >= 200 && result.answer.status < 300;
  return isAccepted ? (request.next ?? request.nextOf?.(result.answer)) : undefined;
}
