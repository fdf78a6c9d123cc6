import { createHash } from 'node:crypto';
import type { OfferedKind } from '../../shared/destinations/common-settings.ts';
import type { OutboundRequest } from '../../shared/destinations/sdk/destination.ts';
import { UnfitEventError } from '../../shared/destinations/sdk/destination.ts';
import { knownVisitor } from '../../shared/destinations/sdk/standard-samples.ts';
import { sampleEventFor } from '../../shared/destinations/sdk/sample-event.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';

const searched: readonly (readonly [label: string, value: string])[] = [
  ['External id', knownVisitor.external_id],
  ['E-mail address', knownVisitor.email],
  ['Phone number', knownVisitor.phone_number],
  ['First name', knownVisitor.first_name],
  ['Last name', knownVisitor.last_name],
  ['City', knownVisitor.city],
  ['ZIP code', knownVisitor.zip],
  ['Visitor id', knownVisitor.id],
  ['IP address', '203.0.113.7'],
  ['User agent', 'Mozilla/5.0 (X11; Linux x86_64)'],
];

/** A request field that identifies the person. `label` names the identifier, `form` the format of the value. */
export type Identity = readonly [label: string, field: string, form: string];

/** The fields of a request for an order that identify a known customer; undefined if the kind sends no such request. */
export function identitiesOf(kind: OfferedKind): readonly Identity[] | undefined {
  const resolved = { ...sampleEventFor(kind), visitor: knownVisitor };
  const event = { resolved };
  const prepared = kind.prepare(kind.exampleSettings);
  if (prepared.accepts?.(event) === false) return undefined;
  try {
    return findIdentities(prepared.buildRequest([event], resolved.event.time));
  } catch (error) {
    if (error instanceof UnfitEventError) return undefined;
    throw error;
  }
}

function findIdentities(request: OutboundRequest): readonly Identity[] {
  const leaves = [...leavesOf(request)];
  return searched.flatMap(([label, value]) =>
    formsOf(value).flatMap(([form, text]) =>
      leaves.filter(([, leaf]) => leaf === text).map(([field]) => [label, field, form] as const),
    ),
  );
}

function formsOf(value: string): readonly (readonly [form: string, text: string])[] {
  const plain = new Set([value, value.toLowerCase(), value.replace('+', ''), `mailto:${value}`]);
  const hashed = [...plain].map((text) => createHash('sha256').update(text).digest('hex'));
  const md5 = [...plain].map((text) => createHash('md5').update(text).digest('hex'));
  return [
    ...[...plain].map((text) => ['as it is', text] as const),
    ...hashed.map((text) => ['SHA-256', text] as const),
    ...md5.map((text) => ['MD5', text] as const),
  ];
}

function* leavesOf({
  url,
  headers,
  body,
  bodyBytes,
}: OutboundRequest): Generator<readonly [field: string, text: string]> {
  const { pathname, searchParams } = new URL(url);
  for (const part of pathname.split('/')) yield ['the path', decodeURIComponent(part)];
  for (const [name, value] of searchParams) yield [`query: ${name}`, value];
  for (const [name, value] of Object.entries(headers)) yield [`header: ${name}`, value];
  const text = body ?? bodyBytes?.toString('utf8') ?? '';
  try {
    yield* jsonLeaves(JSON.parse(text), '');
  } catch {
    for (const [name, value] of new URLSearchParams(text)) yield [`form: ${name}`, value];
  }
}

function* jsonLeaves(value: unknown, path: string): Generator<readonly [field: string, text: string]> {
  if (Array.isArray(value)) for (const each of value) yield* jsonLeaves(each, `${path}[]`);
  else if (isJsonObject(value)) {
    for (const [name, each] of Object.entries(value)) yield* jsonLeaves(each, path === '' ? name : `${path}.${name}`);
  } else if (typeof value === 'string' || typeof value === 'number') yield [path, String(value)];
}
