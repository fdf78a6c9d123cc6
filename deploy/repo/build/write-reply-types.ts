import { readdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The file of types, which git ignores. */
export const replyTypesFile = 'control-plane/console/api/replies.ts';

/**
 * Folders of compiled code on which the types depend. The first two have the schemas by which endpoints describe
 * replies.
 */
const inputs = ['control-plane', 'shared', 'deploy/repo/build'];

/**
 * Writes the console's types of replies, unless the file is newer than all compiled code on which it depends, because
 * loading every endpoint takes a second. Returns whether it has written the file.
 */
export async function writeReplyTypes(top: string, build: string): Promise<boolean> {
  const target = join(top, replyTypesFile);
  const written = await stat(target).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
  const compiled = await Promise.all(inputs.map((folder) => newestMs(join(build, folder))));
  if (Math.max(...compiled) < written) return false;
  const { replyTypes } = await import('./reply-types.ts');
  // Atomic: a compiler may read the file in the meantime.
  const unfinished = `${target}.unfinished`;
  await writeFile(unfinished, replyTypes());
  await rename(unfinished, target);
  return true;
}

/** Time at which the newest compiled file of a folder was written, in ms since the epoch. */
async function newestMs(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const compiled = names.filter((name) => name.endsWith('.js'));
  const times = await Promise.all(compiled.map(async (name) => (await stat(join(folder, name))).mtimeMs));
  return Math.max(0, ...times);
}
