import { expect, test } from 'vitest';
import { frameLines } from '../../../shared/contracts/events/frame.ts';
import { decodeHashes, hashEvent } from '../../../shared/contracts/events/event-hash.ts';
import { OutgoingFrames } from './outgoing-frames.ts';

function frames(frameBytesMax: number, events: readonly [account: string, id: string][]) {
  const outgoing = new OutgoingFrames(frameBytesMax);
  for (const [account, id] of events) {
    const line = JSON.stringify({ id });
    outgoing.add(account, line, Buffer.byteLength(line), hashEvent(account, id));
  }
  return outgoing.finish();
}

test('outgoing frames: one an account, in order, with the hashes of its ids', () => {
  const made = frames(1_000, [
    ['a', '1'],
    ['b', '2'],
    ['a', '3'],
  ]);
  expect(made.map(({ accountId, events, payload }) => [accountId, events, frameLines(payload)])).toEqual([
    ['a', 2, ['{"id":"1"}', '{"id":"3"}']],
    ['b', 1, ['{"id":"2"}']],
  ]);
  expect(decodeHashes(made[0]?.ids ?? '')).toEqual([hashEvent('a', '1'), hashEvent('a', '3')]);
});

test('outgoing frames: closed before they grow over the limit; a line larger than it travels alone', () => {
  const made = frames(25, [
    ['a', '1'],
    ['a', '2'],
    ['a', '3'],
    ['a', 'x'.repeat(40)],
    ['a', '4'],
  ]);
  expect(made.map(({ events }) => events)).toEqual([2, 1, 1, 1]);
  expect(made.flatMap(({ payload }) => frameLines(payload))).toHaveLength(5);
});

test('outgoing frames: the message id depends on the account and the events, nothing else', () => {
  const [first] = frames(1_000, [
    ['a', '1'],
    ['a', '2'],
  ]);
  const [same] = frames(9_000, [
    ['a', '1'],
    ['a', '2'],
  ]);
  const [fewer] = frames(1_000, [['a', '2']]);
  const [other] = frames(1_000, [
    ['b', '1'],
    ['b', '2'],
  ]);
  expect(same?.msgId).toBe(first?.msgId);
  expect(new Set([first?.msgId, fewer?.msgId, other?.msgId]).size).toBe(3);
});
