import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { topFolder } from './compiled-path.ts';
import { isNewer, version } from './version.ts';

test('version: equals the version in package.json', async () => {
  const text = await readFile(new URL('package.json', topFolder), 'utf8');
  expect(version).toBe((JSON.parse(text) as { version: string }).version);
});

test('version: versions are compared number by number, from the left', () => {
  expect(isNewer('0.2.0', '0.1.9')).toBe(true);
  expect(isNewer('0.10.0', '0.9.0')).toBe(true);
  expect(isNewer('1.0.0', '1.0.0')).toBe(false);
  expect(isNewer('0.1.0', '0.1.1')).toBe(false);
  expect(isNewer('0.1.0', 'unknown')).toBe(true);
});
