import type { OutboundRequest } from '../outbound.ts';
import type { OAuthNeed } from '../oauth-grant.ts';
import type { Sender, SendResult } from '../sender.ts';
import { authorized } from './authorized.ts';
import type { TokenResult, TokenSource } from './token-source.ts';

/**
 * A sender that obtains the token for a request. A token that the platform rejects is replaced, once per request.
 * Without a token nothing is sent and the events are retried; if the platform refuses to issue a token, the
 * destination is paused until the operator fixes its credentials.
 */
export function withOAuth(sender: Sender, tokens: TokenSource, accountId: string): Sender {
  const sendWithToken = async (
    request: OutboundRequest,
    oauth: OAuthNeed,
    mayBegin?: () => boolean,
  ): Promise<SendResult> => {
    const first = await tokens.get(accountId, oauth.grant, sender);
    if (first.kind === 'none') return failed(first);
    const result = await sender.send(authorized(request, first.accessToken), mayBegin);
    if (result.kind === 'failed' || result.answer.status !== 401) return result;
    const second = await tokens.get(accountId, oauth.grant, sender, first.accessToken);
    if (second.kind === 'none') return failed(second);
    return sender.send(authorized(request, second.accessToken), mayBegin);
  };
  return {
    // Nearly all requests need no token, and each additional promise costs measurable time.
    send: (request, mayBegin) =>
      request.oauth === undefined ? sender.send(request, mayBegin) : sendWithToken(request, request.oauth, mayBegin),
    close: () => sender.close(),
  };
}

function failed({ reason, isRefused }: Extract<TokenResult, { kind: 'none' }>): SendResult {
  return {
    kind: 'failed',
    failure: 'connection',
    reason: `oauth: ${reason}`,
    permanent: false,
    ...(isRefused ? { refusesAccess: true } : {}),
  };
}
