import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { compiledPath } from '../runtime/compiled-path.ts';

/** A page script, as served. */
export type WebSnippet = {
  readonly script: string;
  /** Hash of the content, a part of the script's address, so that a changed script has another address. */
  readonly hash: string;
};

/** Build output path of the minified page script. */
export const pageScriptPath = compiledPath(new URL('./page-script.ts', import.meta.url)).replace(/\.js$/, '.min');

/** Build output path of the minified tag script. */
export const tagScriptPath = compiledPath(new URL('./tag-script.ts', import.meta.url)).replace(/\.js$/, '.min');

const known = new Map<string, WebSnippet>();

/** The built page script. */
export const readWebSnippet = (): WebSnippet => readBuilt(pageScriptPath);

/** The built tag script. */
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

/** The first 16 hex digits of a text's SHA-256. */
export const hashOf = (text: string): string => hash('sha256', text, 'hex').slice(0, 16);

/** The HTML that installs tracking in a page: a queue for calls before the script loads, and the script. */
export function installScript(ingestUrl: string, key: string): string {
  const queue = 'window.sluice=window.sluice||function(){(sluice.q=sluice.q||[]).push(arguments)}';
  const src = `${ingestUrl.replace(/\/+$/, '')}/sluice.js?v=${readWebSnippet().hash}`;
  return `<script>${queue}</script>\n<script async src="${quoted(src)}" data-key="${quoted(key)}"></script>`;
}

const quoted = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
