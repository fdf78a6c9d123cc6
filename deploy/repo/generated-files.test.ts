import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generatedFiles } from './generated-files.ts';

test('generated files: equal what the code generates now (else: npm run generate)', async () => {
  for (const { path, text } of await generatedFiles()) {
    const written = await readFile(join(import.meta.dirname, '..', path), 'utf8');
    expect({ path, text: written }).toEqual({ path, text });
  }
});

test('generated files: there is no dashboard the code does not make', async () => {
  const made = (await generatedFiles()).map(({ path }) => path);
  for (const name of await readdir(join(import.meta.dirname, '../grafana/dashboards'))) {
    expect(made).toContain(`grafana/dashboards/${name}`);
  }
});
