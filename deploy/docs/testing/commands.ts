import { spawn } from 'node:child_process';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { topFolder } from '../../../shared/runtime/compiled-path.ts';

/** A block of commands on a page, or the reason why it is not run. */
export type CommandBlock = { readonly line: number; readonly text: string; readonly notRun: string | undefined };

const marked = /^<!-- not run: (.+) -->$/;

/** The blocks of shell commands on a page. A comment above a block says why it is not run: `<!-- not run: … -->`. */
export function commandBlocks(markdown: string): readonly CommandBlock[] {
  const lines = markdown.split('\n');
  return lines.flatMap((line, at) => {
    if (!/^```(?:sh|bash|shell)$/.test(line)) return [];
    const end = lines.indexOf('```', at);
    const above = lines.slice(0, at).findLast((one) => one.trim() !== '') ?? '';
    return [{ line: at + 1, text: lines.slice(at + 1, end).join('\n'), notRun: marked.exec(above)?.[1] }];
  });
}

/**
 * Fills a folder as a reader has it: the checkout, with the stack's credentials. Its npm runs the existing build and
 * does not build again.
 */
export async function makeReaderFolder(folder: string, stackFolder: string): Promise<void> {
  const top = fileURLToPath(topFolder);
  await mkdir(join(folder, 'bin'), { recursive: true });
  for (const name of ['dist', 'node_modules', 'package.json', 'deploy'])
    await symlink(join(top, name), join(folder, name));
  await symlink(stackFolder, join(folder, '.sluice'));
  const npm = join(folder, 'bin/npm');
  await writeFile(npm, npmProgram);
  await chmod(npm, 0o755);
}

const npmProgram = `#!/usr/bin/env node
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
const [run, name, ...rest] = process.argv.slice(2);
const script = run === 'run' && JSON.parse(readFileSync('package.json', 'utf8')).scripts[name];
if (!script) throw new Error('npm ' + process.argv.slice(2).join(' ') + ' is not for a test to run');
const command = script.replace('npm run --silent build && ', '').replace('exec ', '');
const given = rest.filter((one) => one !== '--').map((one) => "'" + one + "'");
process.exit(spawnSync(command, given, { shell: true, stdio: 'inherit' }).status ?? 1);
`;

/** Runs a page's blocks in one shell, as a reader would paste them, until one fails. */
export async function runBlocks(
  blocks: readonly CommandBlock[],
  folder: string,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const script = [
    'set -euo pipefail',
    // This function makes a block fail if one of its requests is refused.
    'curl() { command curl --fail-with-body -sS "$@"; }',
    ...blocks.flatMap(({ line, text }) => [`echo "── line ${line}"`, text, 'echo']),
  ].join('\n');
  const child = spawn('bash', ['-c', script], {
    cwd: folder,
    env: {
      PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`,
      HOME: folder,
      SLUICE_DIR: join(folder, '.sluice'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}
