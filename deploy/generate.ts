import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { generatedFiles } from './generated-files.ts';

// Writes the files of this folder that are made from the code: the metrics reference and the dashboards.
for (const { path, text } of await generatedFiles()) {
  const file = join(import.meta.dirname, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  process.stdout.write(`wrote deploy/${path}\n`);
}
