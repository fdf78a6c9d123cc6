import { createHash } from 'node:crypto';
import type { OfferedKind } from '../../shared/destinations/common-settings.ts';
import type { OutboundRequest } from '../../shared/destinations/sdk/destination.ts';
import { UnfitEventError } from '../../shared/destinations/sdk/destination.ts';
import { sampleEventFor } from '../../shared/destinations/sdk/sample-event.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';

/** What of a person may go to a platform, with a value that is found again in a request. */
const sampleVisitor = {
  id: '0197a0c4-5e00-7000-8000-00000000a0da',
  external_id: 'customer-7',
  email: 'ada@example.com',
  phone_number: '+14155550123',
  first_name: 'Adamina',
  last_name: 'Lovelacey',
  city: 'Brightonia',
  zip: '94107',
  custom_properties: {},
};
const searched: readonly (readonly [label: string, value: string])[] = [
  ['External id', sampleVisitor.external_id],
  ['E-mail address', sampleVisitor.email],
  ['Phone number', sampleVisitor.phone_number],
  ['First name', sampleVisitor.first_name],
  ['Last name', sampleVisitor.last_name],
  ['City', sampleVisitor.city],
  ['ZIP code', sampleVisitor.zip],
  ['Visitor id', sampleVisitor.id],
  ['IP address', '203.0.113.7'],
  ['User agent', 'Mozilla/5.0 (X11; Linux x86_64)'],
];

/** A request of a kind for a made-up event, and where it carries what identifies the person. */
export type SampleRequest = {
  readonly request: OutboundRequest;
  /** Label, field, and how the value is written. */
  readonly identities: readonly (readonly [string, string, string])[];
};

/** Undefined: the kind sends nothing for an order of a known customer. */
export function sampleRequestOf(kind: OfferedKind): SampleRequest | undefined {
  const sample = sampleEventFor(kind);
  const event = { resolved: { ...sample, visitor: sampleVisitor } };
  const prepared = kind.prepare(kind.exampleSettings);
  if (prepared.accepts?.(event) === false) return undefined;
  try {
    const request = prepared.buildRequest([event], sample.event.time);
    return { request, identities: findIdentities(request) };
  } catch (error) {
    if (error instanceof UnfitEventError) return undefined;
    throw error;
  }
}

function findIdentities(request: OutboundRequest): SampleRequest['identities'] {
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
