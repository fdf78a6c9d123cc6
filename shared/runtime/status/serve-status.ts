import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { MetricsPage } from '../metrics/metrics-page.ts';
import { processMetrics } from './process-metrics.ts';
import { createDrainServer } from '../drain-server.ts';
import { fromEnv } from '../settings.ts';
import { text } from '../variables.ts';
import { version } from '../version.ts';

/** One condition of readiness. `detail` gives the reason of a failure, in words an operator can act on. */
export type ReadyCheck = { readonly name: string; check(): { readonly ok: boolean; readonly detail?: string } };

/** The setting METRICS_HOST, which every service has. */
export const metricsHost = fromEnv({
  METRICS_HOST: text('Address that metrics and health listen on', { default: '0.0.0.0' }),
});

export type StatusOptions = {
  readonly port: number;
  readonly host: string;
  /** Name of the variable that sets the port, for the message of PortBusyError. */
  readonly portVariable: string;
  /** Content of /metrics; serveStatus adds the metric of the checks. */
  readonly page: MetricsPage;
  readonly checks: readonly ReadyCheck[];
};

export class PortBusyError extends Error {
  readonly code = 'port_busy';
}

/** How long `close` waits for answers that are being sent, in ms. */
const answersMs = 400;

/** Serves /metrics, /livez with the version, and /readyz on a separate port. `close` stops it. */
export async function serveStatus(options: StatusOptions): Promise<{ readonly port: number; close(): Promise<void> }> {
  options.page.show(processMetrics.readyCheck, (add) => {
    for (const { name, check } of options.checks) add(check().ok ? 1 : 0, { check: name });
  });
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?')[0];
    if (path === '/livez') send(response, 200, 'application/json', `${JSON.stringify({ live: true, version })}\n`);
    else if (path === '/readyz') sendReady(response, options.checks);
    else if (path === '/metrics') sendMetrics(response, options.page);
    else send(response, 404, 'text/plain', 'not found\n');
  });
  const drain = createDrainServer(server);
  const port = await listen(server, options.port, options.host, options.portVariable);
  return {
    port,
    async close() {
      await drain({ acceptMs: 0, idleMs: 0, deadlineMs: answersMs });
      server.closeAllConnections();
    },
  };
}

/** Listens and returns the port. Throws PortBusyError, whose message names `portVariable`, if the port is in use. */
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

function sendMetrics(response: ServerResponse, page: MetricsPage): void {
  page.text().then(
    (text) => send(response, 200, page.registry.contentType, text),
    () => send(response, 500, 'text/plain', 'collecting metrics failed\n'),
  );
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(body);
}
