import { Type } from 'typebox';
import type { Static } from 'typebox';
import { defineCollection, enabledStatus, nullable, textOf } from '../contracts/config/define-collection.ts';
import { sourceTypes } from './source-types.ts';

const listItemsMax = 1_000;

/** Maximum characters of a source's secret, and of its sealed text, which is a third longer. */
export const secretCharactersMax = { signingSecret: 1_000, accessToken: 2_000 } as const;

const body = Type.Object({
  name: nullable(Type.String({ maxLength: 250 })),
  type: Type.Enum([...sourceTypes]),
  status: enabledStatus,
  selectedAccountId: nullable(Type.String({ maxLength: 250 })),
  whitelistDomains: nullable(Type.Array(Type.String({ minLength: 1, maxLength: 253 }), { maxItems: listItemsMax })),
  whitelistIps: nullable(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: listItemsMax })),
  botControlMode: nullable(Type.Enum(['Allow', 'Block', 'Threshold'])),
  botScoreThreshold: nullable(Type.Number({ minimum: 0, maximum: 100 })),
  excludeRequestContext: nullable(Type.Boolean()),
  redirectUrl: nullable(Type.String({ minLength: 1, maxLength: 2_048 })),
  projectAPIKey: nullable(Type.String({ maxLength: 1_000 })),
  probabilisticIdentity: nullable(Type.Record(Type.String(), Type.Unknown())),
  signingSecret: nullable(
    Type.String({
      minLength: 1,
      maxLength: secretCharactersMax.signingSecret,
      description:
        'The secret with which a provider signs its requests. If it is set, requests without a valid signature are refused. Only for types whose provider signs. Replies contain a mask in its place; sending the mask keeps the secret.',
    }),
  ),
  accessToken: nullable(
    Type.String({
      minLength: 1,
      maxLength: secretCharactersMax.accessToken,
      pattern: String.raw`^[\x21-\x7e]+$`,
      description:
        'The token for reading records from the provider whose webhook sends only their ids. Only for types with such webhooks. Replies contain a mask in its place; sending the mask keeps the token.',
    }),
  ),
});

export type SourceBody = Static<typeof body>;

export const sources = defineCollection({
  name: 'sources',
  noun: 'source',
  body,
  defaults: {
    name: null,
    status: 'Enabled',
    selectedAccountId: null,
    whitelistDomains: null,
    whitelistIps: null,
    botControlMode: null,
    botScoreThreshold: null,
    excludeRequestContext: null,
    redirectUrl: null,
    projectAPIKey: null,
    probabilisticIdentity: null,
    signingSecret: null,
    accessToken: null,
  },
  harmless: ['name', 'selectedAccountId', 'botScoreThreshold', 'projectAPIKey', 'probabilisticIdentity'],
  fixed: ['type'],
  readOnly: ['accountId', 'isPublished', 'liveStatus', 'lastTriggeredAt', 'lastDispatchedAt', 'lastInvalid'],
  describe: ({ type, status }) => ({ type: textOf(type), summary: textOf(status) }),
});
