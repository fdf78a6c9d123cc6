import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { destinationKinds } from '../../shared/destinations/registry.ts';

test('README.md: names every destination kind this build offers', async () => {
  const page = await readFile(join(import.meta.dirname, '../../README.md'), 'utf8');
  const ids = destinationKinds.map(({ descriptor }) => descriptor.id);
  expect(ids.filter((id) => !page.includes(`\`${id}\``))).toEqual([]);
});
