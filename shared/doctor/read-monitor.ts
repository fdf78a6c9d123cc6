import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';

/** What the monitor page of a nats-server says that Sluice looks at. Durations are in nanoseconds there. */
const monitorPage = Type.Object({
  server_name: Type.Optional(Type.String()),
  version: Type.String(),
  /** The server's clock, RFC 3339. */
  now: Type.Optional(Type.String()),
  jetstream: Type.Object({
    config: Type.Optional(
      Type.Object({
        store_dir: Type.Optional(Type.String()),
        max_storage: Type.Optional(Type.Number()),
        sync_interval: Type.Optional(Type.Number()),
        sync_always: Type.Optional(Type.Boolean()),
      }),
    ),
    stats: Type.Optional(Type.Object({ storage: Type.Number() })),
  }),
});

export type MonitorPage = Static<typeof monitorPage>;

const compiled = Compile(monitorPage);

export class MonitorError extends Error {
  readonly code = 'monitor';
}

/** Reads `/varz` of a nats-server's monitor port. Throws MonitorError, which says where and why. */
export async function readMonitor(baseUrl: string, timeoutMs: number): Promise<MonitorPage> {
  const { url, headers } = addressOf(baseUrl);
  const doing = `reading the monitor page at ${url.origin}`;
  let page: unknown;
  try {
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(timeoutMs), redirect: 'error' });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    page = await answer.json();
  } catch (error) {
    throw new MonitorError(`${doing}: ${reasonOf(error)}`, { cause: error });
  }
  if (!compiled.Check(page)) throw new MonitorError(`${doing}: it is not the monitor page of a nats-server`);
  return page;
}

/** The addresses in NATS_MONITOR_URL: one for each server of a cluster. */
export function monitorUrls(list: string | undefined): readonly string[] {
  return (list ?? '')
    .split(',')
    .map((url) => url.trim())
    .filter((url) => url !== '');
}

// A proxy before the monitor port may want a password; fetch takes none in an address.
function addressOf(baseUrl: string): { readonly url: URL; readonly headers: Readonly<Record<string, string>> } {
  if (!URL.canParse(baseUrl)) throw new MonitorError('reading the monitor page: NATS_MONITOR_URL holds no address');
  const url = new URL('varz', baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`);
  if (url.username === '' && url.password === '') return { url, headers: {} };
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = '';
  url.password = '';
  return { url, headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } };
}

// fetch hides why a connection failed behind "fetch failed".
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
