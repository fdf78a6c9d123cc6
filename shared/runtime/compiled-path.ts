import { fileURLToPath } from 'node:url';

const isCompiled = import.meta.url.endsWith('.js');

/** The folder with the sources and package.json, whether this runs from the build or, in a test, from the sources. */
export const topFolder = new URL(isCompiled ? '../../../' : '../../', import.meta.url);
const buildFolder = new URL('dist/', topFolder);

/**
 * The compiled file of a source file: every process and thread runs the build, even if a test that runs from the
 * sources starts it.
 */
export function compiledPath(source: URL): string {
  const isInBuild = source.href.startsWith(buildFolder.href);
  const inBuild = isInBuild ? source.href : buildFolder.href + source.href.slice(topFolder.href.length);
  return fileURLToPath(inBuild.replace(/\.(c?)ts$/, '.$1js'));
}
