import type { DestinationKind, OutboundRequest } from '../../shared/destinations/sdk/destination.ts';
import { jsonDepthCeiling, textNestsDeeper } from '../../shared/ingest/json-depth.ts';
import { isJsonObject } from '../../shared/process/json.ts';
import type { JsonObject } from '../../shared/process/json.ts';
import { isSecretName } from './secret-names.ts';

/** Words an Authorization header may begin with that are no secret. */
const scheme =
  /^(?:bearer|basic|token|apikey|api-key|digest|oauth|aws4-hmac-sha256|klaviyo-api-key|key|zoho-oauthtoken) +(?=\S)/i;

/** Members of a secret setting's JSON that are none by themselves, such as a content type or an address. */
const plainMember =
  /^(?:content-type|accept(?:-.+)?|user-agent|cache-control|type|project_id|universe_domain|.*_ur[il])$/i;

/** The texts in a destination's settings nobody may read: each secret, and the parts of one that is JSON. */
export function secretSettings({ descriptor }: DestinationKind, settings: JsonObject): string[] {
  return descriptor.settings.flatMap(({ type, key }) => {
    const value = settings[key];
    if ((type !== 'Secret' && type !== 'GenericOauth') || typeof value !== 'string') return [];
    return [value, ...membersOf(parse(value))].flatMap(withParts);
  });
}

/** The texts a kind made of secrets for its request: signatures, credentials, keys in the address. */
export function secretsInRequest({ url, headers }: OutboundRequest): string[] {
  const { username, password, searchParams } = new URL(url);
  const named = [...Object.entries(headers), ...searchParams].filter(([name]) => isSecretName(name));
  const user = [username, password].map((text) => decode(text));
  return [...user, ...named.map(([, value]) => value)].filter((text) => text !== '').flatMap(withParts);
}

/** The scheme of a credential, with a space behind it; empty where it has none. */
export function schemeOf(text: string): string {
  return scheme.exec(text)?.[0] ?? '';
}

function withParts(text: string): string[] {
  const prefix = schemeOf(text);
  if (prefix === '') return [text];
  const credential = text.slice(prefix.length);
  if (!/^basic/i.test(prefix)) return [text, credential];
  const pair = Buffer.from(credential, 'base64').toString('utf8');
  return [text, credential, pair, ...pair.split(':').slice(1)].filter((part) => part !== '');
}

function membersOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(membersOf);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => (plainMember.test(name) ? [] : membersOf(member)));
}

function parse(text: string): unknown {
  // No kind reads a part of it there, and what lists the parts calls itself once a level.
  if (textNestsDeeper(text, jsonDepthCeiling)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : undefined;
  } catch {
    return undefined;
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
