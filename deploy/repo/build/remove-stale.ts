import { access, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Removes compiled files whose source no longer exists, because the compiler leaves them and a test could still run
 * them. Returns their paths.
 */
export async function removeStale(sources: string, build: string): Promise<readonly string[]> {
  const paths = await readdir(build, { recursive: true });
  const compiled = paths.filter((path) => /\.c?js(\.map)?$/.test(path) && !bundled.test(path));
  const kept = await Promise.all(
    compiled.map((path) => isThere(join(sources, path.replace(/\.(c?)js(\.map)?$/, '.$1ts')))),
  );
  const stale = compiled.filter((_, at) => kept[at] === false);
  await Promise.all(stale.map((path) => rm(join(build, path), { force: true })));
  return stale.toSorted();
}

/** Outputs that are bundled from several sources. */
const bundled = /^(node_modules|console|console\.unfinished|docs|docs\.unfinished)[\\/]/;

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
