import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { request } from 'undici';

/** The fields of a nats-server's monitor page that Sluice reads. Durations are in nanoseconds. */
const monitorPage = Type.Object({
  server_name: Type.Optional(Type.String()),
  version: Type.String(),
  /** The server's clock, RFC 3339. */
  now: Type.Optional(Type.String()),
  /** Empty for a server outside of a cluster. */
  cluster: Type.Optional(
    Type.Object({
      addr: Type.Optional(Type.String()),
      cluster_port: Type.Optional(Type.Number()),
      tls_required: Type.Optional(Type.Boolean()),
    }),
  ),
  /** GOMEMLIMIT, in bytes; missing if it is not set. */
  gomemlimit: Type.Optional(Type.Number()),
  jetstream: Type.Object({
    config: Type.Optional(
      Type.Object({
        store_dir: Type.Optional(Type.String()),
        max_storage: Type.Optional(Type.Number()),
        sync_interval: Type.Optional(Type.Number()),
        sync_always: Type.Optional(Type.Boolean()),
      }),
    ),
    /** Bytes that all streams of this server use, and bytes that their limits reserve. */
    stats: Type.Optional(Type.Object({ storage: Type.Number(), reserved_storage: Type.Optional(Type.Number()) })),
  }),
});

export type MonitorPage = Static<typeof monitorPage>;

const compiled = Compile(monitorPage);

export class MonitorError extends Error {
  readonly code = 'monitor';
}

/** Reads `/varz` of a nats-server's monitor port. Throws MonitorError with address and reason. */
export async function readMonitor(baseUrl: string, timeoutMs: number): Promise<MonitorPage> {
  const { status, body, doing } = await ask(baseUrl, 'varz', timeoutMs);
  if (status !== 200) throw new MonitorError(`${doing}: status ${status}`);
  if (!compiled.Check(body)) throw new MonitorError(`${doing}: it is not the monitor page of a nats-server`);
  return body;
}

const healthPage = Compile(Type.Object({ status: Type.String(), error: Type.Optional(Type.String()) }));

/** The fault that a nats-server's health page, `/healthz`, reports; undefined if it is healthy. Throws MonitorError. */
export async function readComplaint(baseUrl: string, timeoutMs: number): Promise<string | undefined> {
  const { status, body, doing } = await ask(baseUrl, 'healthz', timeoutMs);
  if (!healthPage.Check(body)) throw new MonitorError(`${doing}: it is not the health page of a nats-server`);
  return status === 200 ? undefined : (body.error ?? body.status);
}

const accountsPage = Compile(Type.Object({ accounts: Type.Array(Type.String()) }));

/** The names of the accounts on a nats-server, from `/accountz`. Throws MonitorError. */
export async function readAccounts(baseUrl: string, timeoutMs: number): Promise<readonly string[]> {
  const { body, doing } = await ask(baseUrl, 'accountz', timeoutMs);
  if (!accountsPage.Check(body)) throw new MonitorError(`${doing}: it is not the accounts page of a nats-server`);
  return body.accounts;
}

async function ask(
  baseUrl: string,
  page: 'varz' | 'healthz' | 'accountz',
  timeoutMs: number,
): Promise<{ readonly status: number; readonly body: unknown; readonly doing: string }> {
  const { url, headers } = addressOf(baseUrl, page);
  const doing = `reading the monitor page at ${url.origin}`;
  try {
    // `fetch` would take several times as long, and each process reads this page every few seconds.
    const answer = await request(url, { headers, signal: AbortSignal.timeout(timeoutMs) });
    const text = await answer.body.text();
    return { status: answer.statusCode, body: text.startsWith('{') ? JSON.parse(text) : text, doing };
  } catch (error) {
    throw new MonitorError(`${doing}: ${reasonOf(error)}`, { cause: error });
  }
}

/** The addresses in NATS_MONITOR_URL: one for each server of a cluster. */
export function monitorUrls(list: string | undefined): readonly string[] {
  return (list ?? '')
    .split(',')
    .map((url) => url.trim())
    .filter((url) => url !== '');
}

// A proxy in front of the monitor port may require a password; `request` ignores a password in the address.
function addressOf(
  baseUrl: string,
  page: string,
): { readonly url: URL; readonly headers: Readonly<Record<string, string>> } {
  if (!URL.canParse(baseUrl)) throw new MonitorError('reading the monitor page: NATS_MONITOR_URL holds no address');
  const url = new URL(page, baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`);
  if (url.username === '' && url.password === '') return { url, headers: {} };
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = '';
  url.password = '';
  return { url, headers: { authorization: `Basic ${Buffer.from(pair).toString('base64')}` } };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
