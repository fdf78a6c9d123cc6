import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../../../..');
/** Folders that are not copied. The build is copied, so that the copy compiles only the additions. */
const left = new Set(['node_modules', '.git', '.sluice']);

/** A copy of the project in a temporary folder, to be changed and checked there. */
export type TreeCopy = {
  write(path: string, text: string): Promise<void>;
  read(path: string): Promise<string>;
  /** Inserts `line` before the first `anchor`. Throws if there is none. */
  insertBefore(path: string, anchor: string, line: string): Promise<void>;
  /** Replaces the first `anchor` with `text`. Throws if there is none. */
  replace(path: string, anchor: string, text: string): Promise<void>;
  /** Paths that changed since the last call. */
  takeChanged(): readonly string[];
  /** Runs a command in the copy. Returns its output and exit code. */
  run(command: string, ...parameters: readonly string[]): Promise<{ readonly code: number; readonly said: string }>;
  remove(): Promise<void>;
};

export async function copyTree(): Promise<TreeCopy> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-contributing-'));
  await cp(root, folder, { recursive: true, filter: (path) => !left.has(relative(root, path)) });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  // The check of layers lists files with git.
  await run('git', ['init', '--quiet'], { cwd: folder });
  const read = (path: string): Promise<string> => readFile(join(folder, path), 'utf8');
  const changed = new Set<string>();
  const write = async (path: string, text: string): Promise<void> => {
    changed.add(path);
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  const replace = async (path: string, anchor: string, by: string): Promise<void> => {
    const text = await read(path);
    if (!text.includes(anchor)) throw new Error(`changing ${path}: it has no ${anchor}`);
    await write(
      path,
      text.replace(anchor, () => by),
    );
  };
  return {
    read,
    write,
    replace,
    takeChanged() {
      const paths = [...changed];
      changed.clear();
      return paths;
    },
    insertBefore: (path, anchor, line) => replace(path, anchor, `${line}${anchor}`),
    async run(command, ...parameters) {
      try {
        const { stdout, stderr } = await run(command, parameters, { cwd: folder, maxBuffer: 64 * 1024 ** 2 });
        return { code: 0, said: stdout + stderr };
      } catch (error) {
        if (!(error instanceof Error) || !('stdout' in error)) throw error;
        const code = 'code' in error && typeof error.code === 'number' ? error.code : 1;
        return { code, said: `${String(error.stdout)}\n${'stderr' in error ? String(error.stderr) : ''}` };
      }
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
