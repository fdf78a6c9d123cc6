import type { EgressRules } from '../egress-rules.ts';
import { createGuardedLookup } from '../guarded-lookup.ts';
import { withOAuth } from '../oauth/oauth-sender.ts';
import type { TokenSource } from '../oauth/token-source.ts';
import { createSenders } from '../sender.ts';
import type { SenderLimits, Senders } from '../sender.ts';
import { createProtocolSenders } from './protocol-sender.ts';
import { protocols } from './registry.ts';

export type DestinationSendersOptions = {
  readonly rules: EgressRules;
  readonly limits: SenderLimits;
  readonly tokens: TokenSource;
};

/**
 * Senders for the requests of every destination kind, over HTTP, with a token if needed, or another protocol. The group
 * of a sender is its account.
 */
export function createDestinationSenders({ rules, limits, tokens }: DestinationSendersOptions): Senders {
  const senders = createSenders({ rules, lookupFor: createGuardedLookup(rules), limits });
  const withProtocols = createProtocolSenders({ protocols, rules, limits });
  return { create: (accountId) => withOAuth(withProtocols(senders.create(accountId)), tokens, accountId) };
}
