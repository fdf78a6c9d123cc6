import { createHash } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import { destinationKinds } from '../../../shared/destinations/registry.ts';
import type { OfferedKind } from '../../../shared/destinations/common-settings.ts';
import { UnfitEventError } from '../../../shared/destinations/sdk/destination.ts';
import type { OutboundRequest } from '../../../shared/destinations/sdk/destination.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { contentInTurn, contentOf, isForm, requestsInTurn } from '../../../shared/destinations/sdk/request-content.ts';
import { readFactsFiles } from './testing/facts-file.ts';
import type { Fact } from './testing/facts-file.ts';
import { arrivalMs, resolveFactMessages } from './testing/fact-messages.ts';

// Facts come from what platforms publish, not from a kind or its scripted platform. The tests compare both with the
// facts, to find a mistake that the kind and its scripted platform share.

const nowMs = arrivalMs + 60_000;

/**
 * The request for a fact's message, which passes gateway, resolver and kind; `skipped` if the kind sends no request.
 */
function requestOf(kind: OfferedKind, fact: Fact): OutboundRequest | 'skipped' {
  const person = fact.person === undefined ? [] : [{ type: 'identify', messageId: 'p', traits: fact.person }];
  const resolved = resolveFactMessages([...person, ...(fact.before ?? []), fact.message]).at(-1);
  if (resolved === undefined) throw new Error('there is no message');
  const settings = Object.entries({ ...kind.exampleSettings, ...fact.settings }).filter(([, value]) => value !== null);
  const prepared = kind.prepare(Object.fromEntries(settings));
  const event = { resolved };
  if (prepared.accepts?.(event) === false) return 'skipped';
  return requestsInTurn(prepared.buildRequest([event], nowMs))[0] ?? 'skipped';
}

const stepsOf = (path: string): readonly string[] => path.split(/[.[\]]+/).filter((step) => step !== '');

function memberAt(value: unknown, path: string): unknown {
  return stepsOf(path).reduce<unknown>((held, step) => {
    if (Array.isArray(held)) return held[Number(step)] as unknown;
    return isJsonObject(held) ? held[step] : undefined;
  }, value);
}

/** The expected value of a fact, with each `sha256:…` replaced by the hash of its rest. */
function expectedOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expectedOf);
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, expectedOf(one)]));
  if (typeof value !== 'string' || !value.startsWith('sha256:')) return value;
  return createHash('sha256').update(value.slice('sha256:'.length)).digest('hex');
}

/** A copy of a request with some members replaced. */
function changed(request: OutboundRequest, change: JsonObject): OutboundRequest {
  const content = structuredClone(contentOf(request)) as JsonObject;
  for (const [path, value] of Object.entries(change)) setMember(content, stepsOf(path), expectedOf(value));
  if (request.body !== undefined) {
    const form = isForm(request.headers)
      ? new URLSearchParams(content as Record<string, string>).toString()
      : undefined;
    return { ...request, body: form ?? JSON.stringify(content) };
  }
  const url = new URL(request.url);
  url.search = new URLSearchParams(content as Record<string, string>).toString();
  return { ...request, url: url.href };
}

function setMember(into: unknown, steps: readonly string[], value: unknown): void {
  const [last = ''] = steps.slice(-1);
  const holder = memberAt(into, steps.slice(0, -1).join('.')) as Record<string, unknown> | undefined;
  if (holder === undefined) throw new Error(`the request has no ${steps.slice(0, -1).join('.')}`);
  if (value === null) delete holder[last];
  else holder[last] = value;
}

const kindOfFolder = new Map(
  destinationKinds.map((kind) => [kind.descriptor.id.replaceAll(/[^a-zA-Z0-9]/g, '').toLowerCase(), kind]),
);

function kindOf(folder: string): OfferedKind {
  const kind = kindOfFolder.get(folder.replaceAll('-', ''));
  if (kind === undefined) throw new Error(`no kind is declared in ${folder}`);
  return kind;
}

const files = readFactsFiles();

describe.each(files.map((file) => [file.folder, file] as const))('%s', (folder, file) => {
  const kind = kindOf(folder);

  it.each(file.facts.map((fact) => [fact.name, fact] as const))('facts: %s', async (_, fact) => {
    const { skipped, refused, sent = {}, absent = [], urlPath } = fact;
    if (refused !== undefined) {
      expect(() => requestOf(kind, fact)).toThrow(UnfitEventError);
      expect(() => requestOf(kind, fact)).toThrow(refused);
      return;
    }
    const request = requestOf(kind, fact);
    if (skipped === true || request === 'skipped') {
      expect(request).toBe(skipped === true ? 'skipped' : 'sent');
      return;
    }
    const content = contentInTurn(request);
    const found = Object.keys(sent).map((path) => [path, memberAt(content, path)]);
    expect(Object.fromEntries(found)).toEqual(expectedOf(sent));
    for (const path of absent) expect([path, memberAt(content, path)]).toEqual([path, undefined]);
    if (urlPath !== undefined)
      expect([request.url, new URL(request.url).pathname.endsWith(urlPath)]).toEqual([request.url, true]);
    // The scripted platform must accept the request.
    const platform = await kind.loadPlatform();
    for (const one of requestsInTurn(request)) expect(platform.judge(one, { nowMs }).problems).toEqual([]);
  });

  it.each((file.platform ?? []).map((fact) => [fact.name, fact] as const))('platform: %s', async (_, fact) => {
    const of = file.facts.find(({ name }) => name === fact.of);
    const request = of === undefined ? undefined : requestOf(kind, of);
    if (request === undefined || request === 'skipped') throw new Error(`there is no request of a fact ${fact.of}`);
    const { problems } = (await kind.loadPlatform()).judge(changed(request, fact.change), { nowMs });
    expect([problems.length === 0, problems]).toEqual([fact.accepted, fact.accepted ? [] : expect.anything()]);
  });
});

test('facts: every destination kind has facts', () => {
  const folders = new Set(files.map(({ folder }) => folder.replaceAll('-', '')));
  const without = destinationKinds
    .map(({ descriptor }) => descriptor.id)
    .filter((id) => !folders.has(id.toLowerCase()) && !sharesFolder.has(id));
  expect(without).toEqual([]);
});

/** Kinds without facts of their own: the facts of another kind in the same folder cover them. */
const sharesFolder: ReadonlySet<string> = new Set([
  'FloodlightSGTM',
  'GA4ServerProxy',
  'Google',
  'GoogleAds360',
  'GoogleAdsServerContainer',
]);

test('facts: for every platform, some fact describes a request that it refuses', () => {
  const without = files.filter(({ platform = [] }) => !platform.some(({ accepted }) => !accepted));
  expect(without.map(({ folder }) => folder).toSorted()).toEqual([...takesAnything].toSorted());
});

/** Kinds without facts: only the customer knows what their own endpoint, function or postback accepts. */
const takesAnything: ReadonlySet<string> = new Set([
  'aws-lambda',
  'basis-postback',
  'beeswax-postback',
  'http-custom-request',
  'http-destination',
  'partnerize',
  'sluice-synthetic-data',
]);

test('facts: every fact states at least one expectation', () => {
  for (const { folder, facts } of files) {
    for (const { name, sent, absent, skipped, refused, urlPath } of facts) {
      const isEmpty = [sent, absent, skipped, refused, urlPath].every((one) => one === undefined);
      expect([folder, name, isEmpty]).toEqual([folder, name, false]);
    }
  }
});
