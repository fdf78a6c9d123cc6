import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { compiledPath } from '../runtime/compiled-path.ts';

/** A script of pages, as it is served. */
export type WebSnippet = {
  readonly script: string;
  /** The hash of its content, for its address: another hash names another script. */
  readonly hash: string;
};

/** Where the build puts the script, small. */
export const pageScriptPath = compiledPath(new URL('./page-script.ts', import.meta.url)).replace(/\.js$/, '.min');

/** Where it puts the script that runs the container of a tag manager. */
export const tagScriptPath = compiledPath(new URL('./tag-script.ts', import.meta.url)).replace(/\.js$/, '.min');

const known = new Map<string, WebSnippet>();

/** The script as it was built. */
export const readWebSnippet = (): WebSnippet => readBuilt(pageScriptPath);

/** The script of tags as it was built. */
export const readTagScript = (): WebSnippet => readBuilt(tagScriptPath);

function readBuilt(path: string): WebSnippet {
  let snippet = known.get(path);
  if (snippet === undefined) {
    const script = readFileSync(path, 'utf8');
    snippet = { script, hash: hashOf(script) };
    known.set(path, snippet);
  }
  return snippet;
}

/** The part of an address for the scripts served there. */
export const hashOf = (text: string): string => hash('sha256', text, 'hex').slice(0, 16);

/** The code of a page that tracks: a queue for calls before the script is loaded, and the script. */
export function installScript(ingestUrl: string, key: string): string {
  const queue = 'window.sluice=window.sluice||function(){(sluice.q=sluice.q||[]).push(arguments)}';
  const src = `${ingestUrl.replace(/\/+$/, '')}/sluice.js?v=${readWebSnippet().hash}`;
  return `<script>${queue}</script>\n<script async src="${quoted(src)}" data-key="${quoted(key)}"></script>`;
}

const quoted = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
