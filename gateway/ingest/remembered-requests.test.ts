import { expect, test } from 'vitest';
import { RememberedRequests } from './remembered-requests.ts';

function rig(settings: { readonly requestsMax?: number; readonly ageMsMax?: number } = {}) {
  const requests = new RememberedRequests({ requestsMax: 100, ageMsMax: 1_000, ...settings });
  let made = 0;
  const send = (body: string, retryCount: string, ms = 0, sender = 'source') =>
    requests.eventOf(sender, Buffer.from(body), retryCount, { ms, newId: () => `id-${(made += 1)}` });
  return { requests, send };
}

test('remembered requests: a retry of the same body is the same event', () => {
  const { send } = rig();
  expect(send('a', '0')?.id).toBe('id-1');
  expect(send('a', '1')?.id).toBe('id-1');
  expect(send('a', '2')?.id).toBe('id-1');
});

test('remembered requests: a second first try with the same body is another event', () => {
  const { send } = rig();
  expect([send('a', '0')?.id, send('a', '0')?.id]).toEqual(['id-1', 'id-2']);
});

test('remembered requests: a retry without a known first try is an event of its own, and so is a retry at another source', () => {
  const { send } = rig();
  send('a', '0');
  expect(send('b', '1')?.id).toBe('id-2');
  expect(send('a', '1', 0, 'other')?.id).toBe('id-3');
});

test('remembered requests: of two equal requests, a retry is matched to the request that is not stored', () => {
  const { send } = rig();
  const [first, second] = [send('a', '0'), send('a', '0')];
  if (second !== undefined) second.stored = true;
  expect(send('a', '1')).toBe(first);
  // Both requests are stored now. The first was already retried, so this retry repeats the second, whose answer was
  // lost.
  if (first !== undefined) first.stored = true;
  expect(send('a', '1')).toBe(second);
});

test('remembered requests: retries of two equal requests are matched to different requests', () => {
  const { send } = rig();
  const ids = [send('a', '0')?.id, send('a', '0')?.id];
  expect(new Set([send('a', '1')?.id, send('a', '1')?.id])).toEqual(new Set(ids));
});

test('remembered requests: the oldest requests are forgotten, by age and by number', () => {
  const { requests, send } = rig({ requestsMax: 3 });
  send('a', '0', 0);
  expect(send('a', '1', 1_000)?.id).toBe('id-2');
  for (const body of ['b', 'c', 'd', 'e']) send(body, '0', 1_001);
  expect(requests.size).toBe(3);
  expect(send('a', '2', 1_002)?.id).toBe('id-7');
  expect(send('e', '1', 1_002)?.id).toBe('id-6');
});

test.each(['', 'x', '-1', '1.5', '1000'])('remembered requests: a retry count of %j is ignored', (retryCount) => {
  expect(rig().send('a', retryCount)).toBeUndefined();
});

test('remembered requests: nothing is remembered if the maximum is 0', () => {
  const { requests, send } = rig({ requestsMax: 0 });
  expect(send('a', '0')).toBeUndefined();
  expect(requests.size).toBe(0);
});
