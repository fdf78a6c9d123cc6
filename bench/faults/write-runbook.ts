import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { format } from 'oxfmt';
import { topFolder } from '../../shared/runtime/compiled-path.ts';
import { faults } from './registry.ts';
import { runbookPage } from './runbook-page.ts';

// Writes the runbook's page of faults, which is made from what they say of themselves.
const path = 'deploy/runbook/faults.md';
const { code } = await format(path, runbookPage(faults), { singleQuote: true, printWidth: 120 });
await writeFile(fileURLToPath(new URL(path, topFolder)), code);
process.stdout.write(`wrote ${path}\n`);
