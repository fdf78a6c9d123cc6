import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { topFolder } from '../../../shared/runtime/compiled-path.ts';

type SiteFile = { readonly path: string; readonly type: string };

const script = 'text/javascript; charset=utf-8';

/** The site's files by path. The libraries exist only if development packages are installed, as for the local stack. */
const files: Readonly<Record<string, SiteFile>> = {
  '/site': { path: 'deploy/local/demo-site/page.html', type: 'text/html; charset=utf-8' },
  '/site/page.js': { path: 'deploy/local/demo-site/page.js', type: script },
  '/site/segment.js': { path: 'node_modules/@segment/analytics-next/dist/umd/index.js', type: script },
  '/site/rudderstack.js': {
    path: 'node_modules/@rudderstack/analytics-js/dist/npm/modern/bundled/umd/index.js',
    type: script,
  },
  '/site/posthog.js': { path: 'node_modules/posthog-js/dist/array.full.js', type: script },
};

export const isSitePath = (path: string): boolean => path === '/site' || path.startsWith('/site/');

/**
 * Serves the demo site: a page that tracks with one of four libraries. The address of the gateway and the key of the
 * source come from the local stack's credentials.
 */
export async function serveDemoSite(
  response: ServerResponse,
  path: string,
  credentialsFile: string | undefined,
): Promise<void> {
  if (path === '/site/settings') return reply(response, 200, 'application/json', await settingsOf(credentialsFile));
  const file = Object.hasOwn(files, path.replace(/\/$/, '')) ? files[path.replace(/\/$/, '')] : undefined;
  const body = file === undefined ? undefined : await readFile(new URL(file.path, topFolder)).catch(() => undefined);
  if (file === undefined || body === undefined) return reply(response, 404, 'text/plain', 'not found');
  reply(response, 200, file.type, body);
}

async function settingsOf(credentialsFile: string | undefined): Promise<string> {
  const text = credentialsFile === undefined ? '{}' : await readFile(credentialsFile, 'utf8').catch(() => '{}');
  const { gateway, webToken } = JSON.parse(text) as { readonly gateway?: string; readonly webToken?: string };
  const error = 'credentials.json names no key for pages: start with an empty folder, or add webToken of a WebSource';
  return JSON.stringify(webToken === undefined ? { error } : { gateway, key: webToken });
}

function reply(response: ServerResponse, status: number, type: string, body: string | Uint8Array): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(body);
}
