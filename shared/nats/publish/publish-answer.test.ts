import { expect, test } from 'vitest';
import { readPublishAnswer } from './publish-answer.ts';
import type { PublishAnswer } from './publish-answer.ts';

const read = (text: string): PublishAnswer => readPublishAnswer(Buffer.from(text), 'INGEST');
const refusal = (errCode: number, description: string): string =>
  JSON.stringify({ error: { code: 503, err_code: errCode, description }, stream: 'INGEST', seq: 0 });

test.each([
  ['{"stream":"INGEST","seq":7}', { kind: 'stored', seq: 7, duplicate: false }],
  ['{"stream":"INGEST","domain":"d","seq":7}', { kind: 'stored', seq: 7, duplicate: false }],
  ['{"stream":"INGEST","seq":7,"duplicate": true}', { kind: 'stored', seq: 7, duplicate: true }],
])('publish answer: %s is stored', (text, answer) => {
  expect(read(text)).toEqual(answer);
});

test.each([
  // The answer of a server before 2.12 to a repeated id that it has not stored.
  ['{"stream":"INGEST","seq":0,"duplicate":true}', 'busy'],
  ['{"stream":"INGEST","seq":0}', 'busy'],
  ['{"stream":"INGEST"}', 'busy'],
  ['{"stream":"INGEST","seq":-1}', 'busy'],
  ['{"stream":"INGEST","seq":1.5}', 'busy'],
  ['{"stream":"INGEST","seq":"7"}', 'busy'],
  ['{"stream":"OTHER","seq":7}', 'refused'],
  ['{"seq":7}', 'refused'],
  ['{}', 'refused'],
  ['null', 'refused'],
  ['7', 'refused'],
  ['[]', 'refused'],
  ['no json', 'refused'],
  ['', 'refused'],
])('publish answer: %s is not stored', (text, reason) => {
  expect(read(text)).toEqual({ kind: 'failed', reason });
});

test.each([
  [10_158, 'duplicate message id is in process', 'busy'],
  [10_167, 'too many requests', 'busy'],
  [10_008, 'JetStream system temporarily unavailable', 'busy'],
  [10_077, 'maximum bytes exceeded', 'full'],
  [10_077, 'in words of a later version', 'full'],
  [10_023, 'insufficient resources', 'full'],
  [10_047, 'insufficient storage resources available', 'full'],
  [10_002, 'resource limits exceeded for account', 'full'],
  [10_054, 'message size exceeds maximum allowed', 'too_large'],
  [10_071, 'wrong last sequence: 3', 'not_last'],
  [10_164, 'wrong last sequence', 'busy'],
  [10_060, 'expected stream does not match', 'refused'],
  [99_999, 'maximum bytes of something else', 'refused'],
])('publish answer: the refusal %i (%s) is %s', (errCode, description, reason) => {
  expect(read(refusal(errCode, description))).toEqual({ kind: 'failed', reason });
});
