import { expect, test } from 'vitest';
import { startTestNats } from '../../testing/servers.ts';
import { readDurability } from './read-durability.ts';

test('durability: the mode is read from servers that always sync, and from servers that sync at intervals', async () => {
  const [safe, fast] = await Promise.all([startTestNats({ syncAlways: true }), startTestNats({ syncAlways: false })]);
  try {
    expect(await readDurability(safe.monitorUrl, 30_000)).toMatchObject({ mode: 'fsync' });
    const both = `${safe.monitorUrl}, ${fast.monitorUrl}/`;
    expect(await readDurability(both, 30_000)).toMatchObject({ mode: 'interval', flushEveryMs: 120_000 });
  } finally {
    await Promise.all([safe.stop(), fast.stop()]);
  }
});
