import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { findSourceKind, sourceKinds } from './registry.ts';
import type { SignatureVerdict } from './sdk/signature.ts';
import { signHubspotV1, signHubspotV2, signers } from './testing/sign.ts';

const secret = 'a secret of the provider';
const url = 'https://ingest.example.com/webhook/src_live_1?event=a%3Ab%3F';
const body = '{"a":"ü"}';
const nowMs = Date.UTC(2026, 10, 22, 12);
const ageMsMax = 300_000;

type Changes = { readonly body?: string; readonly secret?: string; readonly nowMs?: number; readonly url?: string };

function judge(type: string, headers: Readonly<Record<string, string>>, changes: Changes = {}): SignatureVerdict {
  const scheme = findSourceKind(type)?.signature;
  if (scheme === undefined) throw new Error(`${type} has no signature`);
  const request = {
    body: Buffer.from(changes.body ?? body),
    url: changes.url ?? url,
    header: (name: string): string => (scheme.headers.includes(name) ? (headers[name] ?? '') : ''),
    nowMs: changes.nowMs ?? nowMs,
    ageMsMax,
  };
  return scheme.check(request, changes.secret ?? secret);
}

const signing = sourceKinds.flatMap(({ type, signature }) => (signature === undefined ? [] : [type]));

test('signatures: every provider that signs is tried', () => {
  expect(Object.keys(signers).toSorted()).toEqual(signing.toSorted());
});

test.each(signing)('signatures: %s: only the right signature of this body and secret is valid', (type) => {
  const headers = signers[type]?.({ secret, body, url, nowMs }) ?? {};
  expect(judge(type, headers)).toBe('valid');
  expect(judge(type, {})).toBe('missing');
  expect(judge(type, headers, { body: '{"a":"u"}' })).toBe('wrong');
  expect(judge(type, headers, { secret: 'another' })).toBe('wrong');
  const cut = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.slice(0, -1)]));
  expect(judge(type, cut)).not.toBe('valid');
});

test.each(['CalendlyWebhook', 'CallTrackingMetrics', 'HubspotFormWebhook'])(
  'signatures: %s, sent again later, is stale',
  (type) => {
    const headers = signers[type]?.({ secret, body, url, nowMs }) ?? {};
    expect(judge(type, headers, { nowMs: nowMs + ageMsMax })).toBe('valid');
    expect(judge(type, headers, { nowMs: nowMs + ageMsMax + 1_000 })).toBe('stale');
    expect(judge(type, headers, { nowMs: nowMs - ageMsMax - 2_000 })).toBe('stale');
  },
);

test('signatures: HubSpot signs the address, as it is written or with its escapes undone', () => {
  const undone = url.replace('%3A', ':').replace('%3F', '?');
  for (const spelled of [url, undone]) {
    expect(
      judge('HubspotFormWebhook', signers['HubspotFormWebhook']?.({ secret, body, url: spelled, nowMs }) ?? {}),
    ).toBe('valid');
    expect(judge('HubspotAppActions', signHubspotV2({ secret, body, url: spelled, nowMs }))).toBe('valid');
  }
  const elsewhere = { url: 'https://ingest.example.com/webhook/src_live_2' };
  expect(judge('HubspotAppActions', signHubspotV2({ secret, body, url, nowMs }), elsewhere)).toBe('wrong');
});

test('signatures: HubSpot’s older signatures count only in a request without a v3 signature', () => {
  const older = signHubspotV1({ secret, body, url, nowMs });
  expect(judge('HubspotFormWebhook', older)).toBe('valid');
  const newest = { 'x-hubspot-signature-v3': 'bm8=', 'x-hubspot-request-timestamp': String(nowMs) };
  expect(judge('HubspotFormWebhook', { ...older, ...newest })).toBe('wrong');
});

test('signatures: the signature of a captured Formstack delivery is valid', () => {
  // https://github.com/hookdeck/webhook-skills, formstack-webhooks: a real delivery with the key `test1`.
  const captured = 'FormID=6606394&UniqueID=1500878955&HandshakeKey=test';
  const signature = 'sha256=30dff7f180b6d69eab397a5d51719474df490b730514c253e8b5832d3b51b970';
  expect(judge('Formstack', { 'x-fs-signature': signature }, { body: captured, secret: 'test1' })).toBe('valid');
});

test('signatures: Healthie signs a digest in hex or base64, which must be the digest of the body', () => {
  const headers = signers['Healthie']?.({ secret, body, url, nowMs }) ?? {};
  const other = signers['Healthie']?.({ secret, body: '{"a":"x"}', url, nowMs }) ?? {};
  // Both headers are genuine, but belong to different requests.
  expect(judge('Healthie', { ...headers, 'content-digest': other['content-digest'] ?? '' })).toBe('wrong');
  expect(judge('Healthie', other)).toBe('wrong');
  expect(judge('Healthie', headers, { url: url.replace('src_live_1', 'src_live_2') })).toBe('wrong');
  expect(judge('Healthie', headers, { url: 'https://[/webhook' })).toBe('wrong');
  const { 'content-digest': digest = '', signature = '' } = headers;
  expect(judge('Healthie', { signature })).toBe('missing');
  const base64 = Buffer.from(digest.slice('SHA-256='.length), 'hex').toString('base64');
  const signed = `post /webhook/src_live_1 event=a%3Ab%3F ${base64.slice(0, -1)} application/json ${Buffer.byteLength(body)}`;
  const inBase64 = { 'content-digest': `sha-256=${base64}`, signature: `sig1=${hmacHex(signed)}` };
  expect(judge('Healthie', inBase64)).toBe('valid');
});

const hmacHex = (text: string): string => createHmac('sha256', secret).update(text).digest('hex');
