import { expect, test } from 'vitest';
import { QueueCopies } from './queue-copies.ts';

const lines = (text: string) => {
  const bytes = Buffer.from(`${text}\n`);
  return { bytes, start: 0, end: bytes.length - 1 };
};

test('queue copies: lines that are added while earlier ones are copied are copied too, whenever they are added', async () => {
  for (let turns = 0; turns < 12; turns += 1) {
    const published: string[] = [];
    const copies = new QueueCopies(async (payload) => void published.push(payload.toString()));
    copies.add(lines('first'), () => undefined);
    void copies.copy();
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    copies.add(lines('second'), () => undefined);
    await copies.copy();
    expect([published, copies.isCopying]).toEqual([['first\n', 'second\n'], false]);
  }
});
