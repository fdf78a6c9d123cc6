import fastify from 'fastify';
import pino from 'pino';
import { expect, test } from 'vitest';
import { answerFailure, failureOf } from './failure.ts';

test('failures: the line of a failed request has its id, its status and the failure, and nothing that the client sent', async () => {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const app = fastify();
  app.setErrorHandler((error, request, reply) => answerFailure(failureOf(error), request, reply, logger));
  app.post('/path', () => Promise.reject(new Error('broken')));
  const answer = await app.inject({
    method: 'POST',
    url: '/path?query=canary',
    headers: { authorization: 'Bearer canary', cookie: 'session=canary', 'x-forwarded-for': 'canary' },
    payload: { name: 'canary' },
  });
  await app.close();
  expect([answer.statusCode, answer.json()]).toEqual([500, { error: 'internal server error' }]);
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toContain('canary');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ status: 500, failure: { message: 'broken' } });
});
