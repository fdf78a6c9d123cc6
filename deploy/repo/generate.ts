import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { topFolder } from '../../shared/runtime/compiled-path.ts';
import { generatedFiles } from './generated-files.ts';

// Writes the repository's generated files: the README's table of destination kinds, the runbook's page of alerts,
// dashboards, users of the log.
for (const { path, text } of await generatedFiles()) {
  const file = fileURLToPath(new URL(`deploy/${path}`, topFolder));
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  process.stdout.write(`wrote ${join('deploy', path)}\n`);
}
