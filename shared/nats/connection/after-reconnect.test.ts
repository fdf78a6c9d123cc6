import { expect, test } from 'vitest';
import { afterReconnect } from './after-reconnect.ts';
import type { LogConnection } from './connection.ts';

test('after reconnect: a reconnect while a run is ending, at any step, starts another run', async () => {
  for (let steps = 0; steps < 10; steps += 1) {
    let reconnect = (): void => undefined;
    const onReconnect = (listener: () => void): (() => void) => {
      reconnect = listener;
      return () => undefined;
    };
    let runs = 0;
    const work = (): Promise<void> => {
      runs += 1;
      return Promise.resolve();
    };
    afterReconnect({ onReconnect } as unknown as LogConnection, work, () => undefined);
    reconnect();
    for (let step = 0; step < steps; step += 1) await Promise.resolve();
    reconnect();
    await new Promise((done) => setImmediate(done));
    expect([steps, runs]).toEqual([steps, 2]);
  }
});
