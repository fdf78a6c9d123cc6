import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { compiledPath } from '../runtime/compiled-path.ts';

/** The script of pages that track, as it is served. */
export type WebSnippet = {
  readonly script: string;
  /** Of what it says, for its address: who has one of another hash has another script. */
  readonly hash: string;
};

/** Where the build puts the script, small. */
export const pageScriptPath = compiledPath(new URL('./page-script.ts', import.meta.url)).replace(/\.js$/, '.min');

let known: WebSnippet | undefined;

/** The script as it was built. */
export function readWebSnippet(): WebSnippet {
  if (known !== undefined) return known;
  const script = readFileSync(pageScriptPath, 'utf8');
  known = { script, hash: hash('sha256', script, 'hex').slice(0, 16) };
  return known;
}

/** What stands in a page that tracks: a queue for calls made before the script is there, and the script. */
export function installScript(ingestUrl: string, key: string): string {
  const queue = 'window.sluice=window.sluice||function(){(sluice.q=sluice.q||[]).push(arguments)}';
  const src = `${ingestUrl.replace(/\/+$/, '')}/sluice.js?v=${readWebSnippet().hash}`;
  return `<script>${queue}</script>\n<script async src="${quoted(src)}" data-key="${quoted(key)}"></script>`;
}

const quoted = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
