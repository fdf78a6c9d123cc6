import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { auditCommand, readAudit } from './judge-dependencies.ts';
import type { Explained, Lock } from './judge-dependencies.ts';

const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));
const [command = '', ...given] = auditCommand;
const { stdout, stderr } = spawnSync(command, given, { encoding: 'utf8' });
const { compared, lines } = readAudit(
  { stdout, stderr },
  read('package-lock.json') as Lock,
  read('deploy/repo/dependencies/explained.json') as Explained,
);
for (const line of lines) console.error(line);
// Exit code 2: nothing was compared. 1: problems were found.
if (!compared) process.exitCode = 2;
else if (lines.length > 0) process.exitCode = 1;
