import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { findDestinationKind } from '../registry.ts';
import { requestOf } from '../testing/sent-by.ts';
import { awsSettings, prepareAwsRequests } from './aws.ts';
import type { OutboundRequest } from './destination.ts';
import { sampleEvent } from './sample-event.ts';
import { exampleOf, readSettings } from './settings.ts';

const nowMs = Date.parse('2026-01-31T10:20:30.456Z');
const events = [{ resolved: sampleEvent() }];

const declared = awsSettings('kinesis');
const example = readSettings(declared, exampleOf(declared));

function request(own: Readonly<Record<string, unknown>> = {}): OutboundRequest {
  const make = prepareAwsRequests('kinesis', readSettings(declared, { ...exampleOf(declared), ...own }));
  return make({ headers: { 'content-type': 'application/x-amz-json-1.1' }, body: '{"a":"größe"}', events }, nowMs);
}

describe('AWS request', () => {
  it('address: is the service’s host in the region', () => {
    expect(request().url).toBe('https://kinesis.eu-central-1.amazonaws.com/');
    expect(request({ region: 'cn-north-1' }).url).toBe('https://kinesis.cn-north-1.amazonaws.com.cn/');
    expect(request({ region: 'eusc-de-east-1' }).url).toBe('https://kinesis.eusc-de-east-1.amazonaws.eu/');
    expect(request({ baseUrl: 'http://127.0.0.1:4566' }).url).toBe('http://127.0.0.1:4566/');
  });

  it.each([{}, { sessionToken: 'token/1==' }, { baseUrl: 'http://127.0.0.1:4566/aws/' }])(
    'signature: matches the request as it is sent, for %o',
    (own) => {
      const sent = request(own);
      expect(sent.headers).toMatchObject({ 'x-amz-date': '20260131T102030Z', 'idempotency-key': 'sample-event-1' });
      expect(sent.headers['authorization']).toBe(signatureOf(sent));
      expect(Object.keys(sent.headers)).not.toContain('host');
      expect(sent.headers['x-amz-security-token']).toBe('sessionToken' in own ? own.sessionToken : undefined);
    },
  );

  it.each([
    ['AWSKinesis', 'kinesis', {}],
    ['AWSLambda', 'lambda', {}],
    ['AWSLambda', 'lambda', { qualifier: 'live' }],
    [
      'AWSLambda',
      'lambda',
      { functionName: 'arn:aws:lambda:eu-central-1:123456789012:function:a', qualifier: '$LATEST' },
    ],
    ['AWSSNS', 'sns', {}],
    ['AWSSQS', 'sqs', {}],
    ['AmazonEventBridge', 'events', {}],
  ])('signature: covers path and query of a request of %s to %s with %o', (id, service, own) => {
    const kind = findDestinationKind(id);
    if (kind === undefined) throw new Error(`no kind ${id}`);
    const sent = requestOf(kind, events, own);
    expect(sent.headers['authorization']).toBe(signatureOf(sent, service, kind.exampleSettings));
  });

  it('signature: changes with the time of the attempt', () => {
    const make = prepareAwsRequests('sns', example);
    const at = (ms: number) => make({ headers: {}, body: 'a', events }, ms).headers['authorization'];
    expect(at(nowMs)).toBe(at(nowMs));
    expect(at(nowMs)).not.toBe(at(nowMs + 1_000));
  });

  it.each([
    ['region', { region: 'Frankfurt' }],
    ['region', { region: 'evil.example/#-1' }],
    ['accessKeyId', { accessKeyId: 'a\r\nb: c' }],
    ['sessionToken', { sessionToken: 'a b' }],
    ['baseUrl', { baseUrl: 'ftp://example.com' }],
  ])('prepare: refuses a bad %s in %o', (key, own) => {
    expect(() => request(own)).toThrow(`settings.${key} `);
  });
});

/**
 * Computes Signature Version 4 over the headers that the Authorization header lists, as documented in
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html.
 */
function signatureOf({ url, headers, body = '' }: OutboundRequest, service = 'kinesis', given: Keys = example): string {
  const { host, pathname, searchParams } = new URL(url);
  const names = /SignedHeaders=([^,]+)/.exec(headers['authorization'] ?? '')?.[1] ?? '';
  const wire: Record<string, string> = { ...headers, host, 'content-length': String(Buffer.byteLength(body)) };
  const canonicalHeaders = names.split(';').map((name) => `${name}:${wire[name] ?? 'missing'}\n`);
  // The segments of a path are encoded a second time; names and values of a query once.
  const path = pathname.split('/').map(encode).join('/');
  const query = [...searchParams].map((pair) => pair.map(encode).join('=')).toSorted();
  const canonical = ['POST', path, query.join('&'), canonicalHeaders.join(''), names, sha256(body)].join('\n');
  const date = wire['x-amz-date'] ?? '';
  const scope = `${date.slice(0, 8)}/eu-central-1/${service}/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n');
  const key = scope
    .split('/')
    .reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${String(given.secretAccessKey)}`);
  const signature = hmac(key, toSign).toString('hex');
  return `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/${scope}, SignedHeaders=${names}, Signature=${signature}`;
}

type Keys = { readonly secretAccessKey?: unknown };

function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
