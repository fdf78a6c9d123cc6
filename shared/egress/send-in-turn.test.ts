import { expect, test } from 'vitest';
import type { OutboundRequest } from './outbound.ts';
import { sendInTurn } from './send-in-turn.ts';
import type { SendResult } from './sender.ts';

const request = (url: string, next?: OutboundRequest): OutboundRequest => ({
  method: 'POST',
  url,
  headers: {},
  body: '',
  ...(next === undefined ? {} : { next }),
});
const chain = request('one', request('two', request('three')));

async function send(answers: Readonly<Record<string, number | 'withdrawn'>>) {
  const sent: string[] = [];
  const sender = {
    send: ({ url }: OutboundRequest): Promise<SendResult> => {
      sent.push(url);
      const status = answers[url] ?? 200;
      if (status === 'withdrawn')
        return Promise.resolve({ kind: 'failed', failure: 'withdrawn', reason: 'withdrawn', permanent: false });
      return Promise.resolve({ kind: 'answered', answer: { status, headers: {}, body: url } });
    },
  };
  const { request: last, result, requests } = await sendInTurn(sender, chain, () => true);
  return { sent, last: last.url, requests, status: result.kind === 'answered' ? result.answer.status : result.failure };
}

test('send in turn: each request is sent after the previous one was accepted, and the last answer counts', async () => {
  expect(await send({ three: 201 })).toEqual({
    sent: ['one', 'two', 'three'],
    last: 'three',
    requests: 3,
    status: 201,
  });
});

test('send in turn: a request may be built from the answer to the previous one', async () => {
  const sent: string[] = [];
  const sender = {
    send: ({ url }: OutboundRequest): Promise<SendResult> => {
      sent.push(url);
      return Promise.resolve({ kind: 'answered', answer: { status: 200, headers: {}, body: `of ${url}` } });
    },
  };
  const nextOf: OutboundRequest['nextOf'] = ({ body }) => ({ ...request(body), nextOf: () => undefined });
  expect(await sendInTurn(sender, { ...request('one'), nextOf }, () => true)).toMatchObject({ requests: 2 });
  expect(sent).toEqual(['one', 'of one']);
});

test.each([400, 429, 503, 302, 'withdrawn'] as const)(
  'send in turn: after %s nothing follows, and that is the result',
  async (status) => {
    expect(await send({ two: status })).toEqual({ sent: ['one', 'two'], last: 'two', requests: 2, status });
  },
);

test('send in turn: an answer whose body is a refusal is the result, and no further request is sent', async () => {
  const sent: string[] = [];
  const sender = {
    send: ({ url }: OutboundRequest): Promise<SendResult> => {
      sent.push(url);
      return Promise.resolve({ kind: 'answered', answer: { status: 200, headers: {}, body: url } });
    },
  };
  const { request: last } = await sendInTurn(sender, chain, ({ body }) => body !== 'two');
  expect([sent, last.url]).toEqual([['one', 'two'], 'two']);
});
