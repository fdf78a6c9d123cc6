import type { OutboundAnswer, OutboundRequest } from './outbound.ts';
import type { SendResult, Sender } from './sender.ts';

/** The last request that was sent, its result, and the number of requests sent. */
export type SentInTurn = {
  readonly request: OutboundRequest;
  readonly result: SendResult;
  readonly requests: number;
};

/**
 * Sends a request and its follow-up requests, up to the first that is not accepted. `isAccepted` reads an answer of
 * status 2xx: some platforms refuse in the body.
 */
export async function sendInTurn(
  sender: Pick<Sender, 'send'>,
  first: OutboundRequest,
  isAccepted: (answer: OutboundAnswer) => boolean,
  mayBegin?: () => boolean,
): Promise<SentInTurn> {
  let request = first;
  for (let requests = 1; ; requests += 1) {
    const result = await sender.send(request, mayBegin);
    const next = followerOf(request, result, isAccepted);
    if (next === undefined) return { request, result, requests };
    request = next;
  }
}

function followerOf(
  request: OutboundRequest,
  result: SendResult,
  isAccepted: (answer: OutboundAnswer) => boolean,
): OutboundRequest | undefined {
  if (result.kind !== 'answered') return undefined;
  const { answer } = result;
  const isFollowed = answer.status >= 200 && answer.status < 300 && isAccepted(answer);
  return isFollowed ? (request.next ?? request.nextOf?.(answer)) : undefined;
}
