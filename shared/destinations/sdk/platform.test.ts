import { Type } from 'typebox';
import { expect, test } from 'vitest';
import type { OutboundRequest } from './destination.ts';
import { definePlatform, inBody, inHeader, inQuery, noCredentials, platformScenarios } from './platform.ts';
import type { PlatformScenario } from './platform.ts';
import { anyRows } from './platform-schemas.ts';

const row = Type.Object({ id: Type.String({ minLength: 1 }), value: Type.Optional(Type.Number()) });

const answers = {
  success: (rows: readonly unknown[]) => ({ status: 200, body: { taken: rows.length } }),
  refusal: ({ field, message }: { field: string; message: string }) => ({ status: 400, body: `${field}: ${message}` }),
  throttled: { status: 429, headers: { 'retry-after': '7' } },
  endedToken: { status: 401 },
};

const platform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/v1/{account}/events',
      credentials: inHeader(),
      content: 'json',
      body: Type.Object({ data: anyRows }),
      rows: [{ at: 'data', schema: row }],
      rowsMax: 3,
      bytesMax: 200,
    },
    {
      method: 'POST',
      path: '/rows',
      credentials: inBody('key'),
      content: 'json',
      rows: [
        { at: 'first', schema: row },
        { at: 'second', schema: row },
      ],
      answers: { partial: (verdicts) => ({ status: 207, body: verdicts.map(({ problem }) => problem?.field ?? '') }) },
    },
    {
      method: 'GET',
      path: '/click',
      credentials: inQuery('key'),
      content: 'none',
      query: Type.Object({ id: Type.String({ minLength: 1 }) }),
    },
    { method: 'POST', path: '/form', credentials: noCredentials, content: 'form', body: row },
  ],
  answers,
});

function post(path: string, body: unknown, more: Partial<OutboundRequest> = {}): OutboundRequest {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const headers = { authorization: 'Bearer x' };
  return { method: 'POST', url: `https://api.example.com${path}`, headers, body: text, ...more };
}

const right = post('/v1/a/events', { data: [{ id: '1' }, { id: '2' }] });

test('platform: accepts a valid request, with the documented answer', () => {
  const judged = platform.judge(right);
  expect(judged).toEqual({
    answer: { status: 200, headers: { 'content-type': 'application/json' }, body: '{"taken":2}' },
    taken: [{ id: '1' }, { id: '2' }],
    problems: [],
  });
});

test('platform: a valid request through a proxy with a path of its own is accepted', () => {
  expect(platform.judge({ ...right, url: 'http://proxy.example/to/v1/a/events' }).taken).toHaveLength(2);
});

test.each([
  ['another path', { ...right, url: 'https://api.example.com/v2/a/other' }, 404, ''],
  ['another method', { ...right, method: 'PUT' as const }, 405, ''],
  ['no credentials', { ...right, headers: {} }, 401, 'authorization'],
  ['a wrong scheme', { ...right, headers: { authorization: 'Basic x' } }, 401, 'authorization'],
  ['no JSON', post('/v1/a/events', '{"data":'), 400, ''],
  ['no rows', post('/v1/a/events', { data: [] }), 400, 'data'],
  ['a missing field', post('/v1/a/events', {}), 400, 'data'],
  ['a wrong row', post('/v1/a/events', { data: [{ id: '1' }, { id: '2', value: 'x' }] }), 400, 'data.1.value'],
  ['a row without what it must have', post('/v1/a/events', { data: [{}] }), 400, 'data.0.id'],
  ['too many rows', post('/v1/a/events', { data: ['1', '2', '3', '4'].map((id) => ({ id })) }), 400, 'data'],
  ['too many bytes', post('/v1/a/events', { data: [{ id: 'x'.repeat(200) }] }), 413, ''],
])('platform: %s is refused, and the field at fault is named', (_, request, status, field) => {
  const { answer, taken, problems } = platform.judge(request);
  expect({ status: answer.status, taken }).toEqual({ status, taken: [] });
  expect(problems[0]?.field).toBe(field);
});

test('platform: if the fake platform reports results by row, it accepts the valid rows of each list', () => {
  const body = { key: 'k', first: [{ id: '1' }, {}], second: [{ id: '' }, { id: '4' }] };
  const { answer, taken, problems } = platform.judge(post('/rows', body));
  expect(taken).toEqual([{ id: '1' }, { id: '4' }]);
  expect(problems).toMatchObject([
    { field: 'first.1.id', row: 1 },
    { field: 'second.0.id', row: 2 },
  ]);
  expect(JSON.parse(answer.body)).toEqual(['', 'first.1.id', 'second.0.id', '']);
  expect(platform.judge(post('/rows', { first: [{ id: '1' }] }))).toMatchObject({ taken: [], answer: { status: 401 } });
});

test('platform: requests with a query or a form body are read as well', () => {
  const click = { method: 'GET' as const, headers: {}, body: undefined };
  const url = 'https://api.example.com/click?key=k';
  expect(platform.judge({ ...click, url: `${url}&id=7` }).taken).toEqual([{ key: 'k', id: '7' }]);
  expect(platform.judge({ ...click, url }).problems).toMatchObject([{ field: 'id' }]);
  expect(platform.judge(post('/form', 'id=7')).taken).toEqual([{ id: '7' }]);
  expect(platform.judge(post('/form', 'other=7')).problems).toMatchObject([{ field: 'id' }]);
});

test('platform: a valid request is accepted only in the scenario `success`', () => {
  const statuses = Object.keys(platformScenarios).map((scenario) => {
    const { answer, taken } = platform.judge(right, { scenario: scenario as PlatformScenario });
    return [scenario, answer.status, taken.length] as const;
  });
  expect(statuses).toEqual([
    ['success', 200, 2],
    ['refusal', 400, 0],
    ['refused-row', 400, 0],
    ['throttled', 429, 0],
    ['ended-token', 401, 0],
    ['malformed', 400, 0],
    ['too-large', 413, 0],
    ['unavailable', 503, 0],
  ]);
});

test('platform: a row that it is set to refuse is refused, and other rows are accepted', () => {
  const refuses = (given: unknown): boolean => JSON.stringify(given) === '{"id":"2"}';
  const body = { key: 'k', first: [{ id: '1' }, { id: '2' }] };
  const { taken, problems } = platform.judge(post('/rows', body), { scenario: 'refused-row', refuses });
  expect(taken).toEqual([{ id: '1' }]);
  expect(problems).toMatchObject([{ row: 1 }]);
});
