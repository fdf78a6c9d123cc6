import ipaddr from 'ipaddr.js';
import type { SourceBody } from '../../shared/collections/sources.ts';
import type { FieldProblem } from '../../shared/contracts/config/define-collection.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import { findSourceKind, sourceKinds } from '../../shared/sources/registry.ts';

/** The part of a source kind for which each secret is used. */
const secretUses = { signingSecret: 'signature', accessToken: 'fetch' } as const;

/**
 * Checks of a source that the schema cannot express: secrets that its type does not use, and invalid addresses and
 * domains.
 */
export function checkSource(source: SourceBody): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  const { type, redirectUrl, whitelistIps, whitelistDomains, probabilisticIdentity } = source;
  for (const field of ['signingSecret', 'accessToken'] as const) {
    const use = secretUses[field];
    if (source[field] === null || findSourceKind(type)?.[use] !== undefined) continue;
    const useful = sourceKinds.flatMap((kind) => (kind[use] === undefined ? [] : [kind.type]));
    problems.push({ field, problem: `does not apply to a ${type}, only to a ${useful.toSorted().join(', ')}` });
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

// URL parsers ignore white space and control characters, which no valid address contains.
const unprintable = /[\s\p{Cc}]/u;

function isWebUrl(text: string): boolean {
  if (unprintable.test(text) || !URL.canParse(text)) return false;
  const { protocol } = new URL(text);
  return protocol === 'http:' || protocol === 'https:';
}

function isDomain(text: string): boolean {
  return /^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i.test(text);
}
