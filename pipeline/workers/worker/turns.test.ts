import { expect, test } from 'vitest';
import { Turns } from './turns.ts';

test('turns: after enough work the event loop runs other callbacks first, and each turn is reported', async () => {
  let begun = 0;
  const turns = new Turns(() => void (begun += 1));
  const happened: string[] = [];
  setImmediate(() => happened.push('other'));
  let waits = 0;
  for (let done = 0; done < 1_000; done += 1) {
    const over = turns.spend(1_000);
    if (over === undefined) continue;
    waits += 1;
    await over;
    if (waits === 1) happened.push('work');
  }
  expect(happened).toEqual(['other', 'work']);
  expect(waits).toBeGreaterThan(5);
  expect(begun).toBe(waits);
});

test('turns: work over its budget waits for a shared turn', async () => {
  const waiting: (() => void)[] = [];
  const turns = new Turns(
    () => undefined,
    () => new Promise((resolve) => waiting.push(resolve)),
  );
  const over = turns.spend(1_000_000);
  expect(waiting).toHaveLength(1);
  waiting[0]?.();
  await over;
});
