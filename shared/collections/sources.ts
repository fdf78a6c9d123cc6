import ipaddr from 'ipaddr.js';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { isJsonObject } from '../runtime/json.ts';
import type { JsonObject } from '../runtime/json.ts';
import { defineCollection, enabledStatus, nullable, textOf } from '../contracts/config/define-collection.ts';
import type { FieldProblem } from '../contracts/config/define-collection.ts';
import { findSourceKind, sourceKinds } from '../sources/registry.ts';
import { sourceTypes } from './source-types.ts';

const listItemsMax = 1_000;

/** Characters of a source's secrets, as they are given and as they are sealed, which makes them longer by a third. */
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
        'The secret a provider signs its requests with: set, requests without its signature are refused. Only for types whose provider signs. Read back masked; the mask sent back leaves it.',
    }),
  ),
  accessToken: nullable(
    Type.String({
      minLength: 1,
      maxLength: secretCharactersMax.accessToken,
      pattern: String.raw`^[\x21-\x7e]+$`,
      description:
        'The token with which the provider is asked for what its notices only point to. Only for types whose provider sends such notices. Read back masked; the mask sent back leaves it.',
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
  readOnly: ['accountId', 'isPublished', 'lastTriggeredAt', 'lastDispatchedAt'],
  check: checkSource,
  describe: ({ type, status }) => ({ type: textOf(type), summary: textOf(status) }),
});

/** What of a kind each secret of a source is for. */
const secretUses = { signingSecret: 'signature', accessToken: 'fetch' } as const;

function checkSource(source: JsonObject): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const { type, redirectUrl, whitelistIps, whitelistDomains, probabilisticIdentity } = source;
  for (const [field, use] of Object.entries(secretUses)) {
    if (typeof source[field] !== 'string' || findSourceKind(textOf(type))?.[use] !== undefined) continue;
    const useful = sourceKinds.flatMap((kind) => (kind[use] === undefined ? [] : [kind.type]));
    problems.push({ field, problem: `has no use in a ${textOf(type)}; it has in a ${useful.toSorted().join(', ')}` });
  }
  if (typeof redirectUrl === 'string' && !isWebUrl(redirectUrl)) {
    problems.push({ field: 'redirectUrl', problem: 'must be an absolute http or https URL' });
  }
  if (type === 'RedirectSource' && (redirectUrl === null || redirectUrl === undefined)) {
    problems.push({ field: 'redirectUrl', problem: 'is required for a RedirectSource' });
  }
  for (const address of listOf(whitelistIps)) {
    if (!ipaddr.isValid(address) && !ipaddr.isValidCIDR(address)) {
      problems.push({ field: 'whitelistIps', problem: 'must hold addresses or CIDR ranges' });
      break;
    }
  }
  if (listOf(whitelistDomains).some((domain) => !isDomain(domain))) {
    problems.push({ field: 'whitelistDomains', problem: 'must hold domain names, such as example.com' });
  }
  if (isJsonObject(probabilisticIdentity) && JSON.stringify(probabilisticIdentity).length > 16_384) {
    problems.push({ field: 'probabilisticIdentity', problem: 'must be at most 16384 characters of JSON' });
  }
  return problems;
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? (value as readonly string[]) : [];
}

// URL parsers ignore white space and control characters, which no address is meant to hold.
const unprintable = /[\s\p{Cc}]/u;

function isWebUrl(text: string): boolean {
  if (unprintable.test(text) || !URL.canParse(text)) return false;
  const { protocol } = new URL(text);
  return protocol === 'http:' || protocol === 'https:';
}

function isDomain(text: string): boolean {
  return /^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i.test(text);
}
