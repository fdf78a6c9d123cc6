import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';

/** One thing readiness depends on. `detail` says why not, in words an operator can act on. */
export type ReadyCheck = { readonly name: string; check(): { readonly ok: boolean; readonly detail?: string } };

export type ObserveOptions = {
  readonly port: number;
  readonly host?: string;
  /** Variable the port came from, for the error when it is busy. */
  readonly portVariable: string;
  /** The text of /metrics. */
  metrics(): Promise<string>;
  readonly registry: Registry;
  readonly checks: readonly ReadyCheck[];
};

export class PortBusyError extends Error {
  readonly code = 'port_busy';
}

/** Serves /metrics, /livez and /readyz on a port of their own. `close` stops it. */
export async function startObserving(
  options: ObserveOptions,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?')[0];
    if (path === '/livez') send(response, 200, 'text/plain', 'ok\n');
    else if (path === '/readyz') sendReady(response, options.checks);
    else if (path === '/metrics') sendMetrics(response, options);
    else send(response, 404, 'text/plain', 'not found\n');
  });
  const port = await listen(server, options.port, options.host ?? '0.0.0.0', options.portVariable);
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Listens and returns the port in use; a busy port is an error that names its variable. */
export async function listen(server: Server, port: number, host: string, portVariable: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const busy = error.code === 'EADDRINUSE';
      reject(busy ? new PortBusyError(`port ${port} is in use: set ${portVariable} to a free one`) : error);
    });
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

function sendReady(response: ServerResponse, checks: readonly ReadyCheck[]): void {
  const results = checks.map(({ name, check }) => ({ name, ...check() }));
  const ready = results.every((result) => result.ok);
  send(response, ready ? 200 : 503, 'application/json', `${JSON.stringify({ ready, checks: results })}\n`);
}

function sendMetrics(response: ServerResponse, options: ObserveOptions): void {
  options.metrics().then(
    (text) => send(response, 200, options.registry.contentType, text),
    () => send(response, 500, 'text/plain', 'collecting metrics failed\n'),
  );
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(body);
}
