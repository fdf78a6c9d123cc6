import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { compiledPath } from '../../shared/runtime/compiled-path.ts';
import { createPool } from './pool.ts';

const run = promisify(execFile);
const mebibyte = 1024 ** 2;

test('pool: threads have the configured heap, whatever the heap of the main thread', async () => {
  const source = `
    import { getHeapStatistics } from 'node:v8';
    import { createPool } from ${JSON.stringify(compiledPath(new URL('./pool.ts', import.meta.url)))};
    const host = new URL(${JSON.stringify(new URL('./testing/heap-host.ts', import.meta.url).href)});
    const pool = createPool({ threads: 1, heapMaxMib: 300, youngHeapMaxMib: 24, host });
    const thread = await pool.run();
    console.log(JSON.stringify({ thread, main: getHeapStatistics().heap_size_limit }));
    await pool.destroy();`;
  const { stdout } = await run(process.execPath, ['--max-old-space-size=100', '--input-type=module', '-e', source]);
  const { thread, main } = JSON.parse(stdout) as { thread: number; main: number };
  expect(main / mebibyte).toBeLessThan(200);
  expect(thread / mebibyte).toBeGreaterThan(300);
  expect(thread / mebibyte).toBeLessThan(400);
});

test('pool: a thread imports its host, so that a pool that is destroyed meanwhile does not abort the process', async () => {
  const pool = createPool({ threads: 1, heapMaxMib: 64, host: new URL('./testing/loaded-host.ts', import.meta.url) });
  onTestFinished(() => pool.destroy());
  const stack: unknown = await pool.run(undefined);
  // If the host were loaded by `require`, these functions of Node would be on the stack.
  expect(stack).toEqual(expect.stringContaining('loaded-host'));
  expect(stack).not.toMatch(/runSync|importSyncForRequire|Module\._load/);
});
