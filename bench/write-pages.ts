import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { topFolder } from '../shared/runtime/compiled-path.ts';
import { generatedPages } from './generated-pages.ts';

// Writes the pages that are generated from the definitions of faults and from the kept results.
for (const { path, text } of await generatedPages()) {
  await writeFile(fileURLToPath(new URL(path, topFolder)), text);
  process.stdout.write(`wrote ${path}\n`);
}
