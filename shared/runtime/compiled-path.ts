import { fileURLToPath } from 'node:url';

const isCompiled = import.meta.url.endsWith('.js');

/** The folder the sources and package.json stand in, whether this runs from the build or, in a test, from the sources. */
export const topFolder = new URL(isCompiled ? '../../../' : '../../', import.meta.url);
const buildFolder = new URL('dist/', topFolder);

/**
 * The file Node is to run for a source file: every process and thread is started on the build, also by a test that
 * itself is run from the sources.
 */
export function compiledPath(source: URL): string {
  const isInBuild = source.href.startsWith(buildFolder.href);
  const inBuild = isInBuild ? source.href : buildFolder.href + source.href.slice(topFolder.href.length);
  return fileURLToPath(inBuild.replace(/\.ts$/, '.js'));
}
