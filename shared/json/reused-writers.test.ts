import { expect, test } from 'vitest';
import { ByteWriter } from './byte-writer.ts';
import { ReusedWriters } from './reused-writers.ts';

test('reused writers: a returned writer is emptied, and is lent to only one owner at a time', () => {
  const writers = new ReusedWriters({ make: () => new ByteWriter(8), bytesMax: 64, keptMax: 1 });
  const first = writers.take();
  first.text('text');
  expect(writers.take()).not.toBe(first);
  writers.giveBack(first);
  const again = writers.take();
  expect(again).toBe(first);
  expect(again.length).toBe(0);
  expect(writers.take()).not.toBe(first);
});

test('reused writers: large writers are not kept, nor more writers than the maximum', () => {
  const writers = new ReusedWriters({ make: () => new ByteWriter(8), bytesMax: 64, keptMax: 1 });
  const [large, one, other] = [writers.take(), writers.take(), writers.take()];
  large.text('x'.repeat(100));
  for (const writer of [large, one, other]) writers.giveBack(writer);
  expect(writers.take()).toBe(one);
  expect([large, one, other]).not.toContain(writers.take());
});

test('reused writers: a writer of exactly the largest size is kept', () => {
  const writers = new ReusedWriters({ make: () => new ByteWriter(8), bytesMax: 8, keptMax: 1 });
  const writer = writers.take();
  writers.giveBack(writer);
  expect(writers.take()).toBe(writer);
});
