import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** A fault of one request: the proxy answers it itself, or cuts the connection before or after the gateway gets it. */
export type Fault =
  | { readonly kind: 'answer'; readonly status: number; readonly retryAfterS?: number }
  | { readonly kind: 'cut-before' }
  | { readonly kind: 'cut-after' };

/**
 * A proxy to the gateway. Each fault in `faults` is used for one request with a body, in order; all other requests
 * pass.
 */
export type FaultyWay = {
  readonly url: string;
  /** Faults that have not occurred yet. */
  readonly faults: Fault[];
  /** Status of each answered request; 0 for a request whose connection was cut. */
  readonly seen: number[];
  stop(): Promise<void>;
};

export async function startFaultyWay(gateway: string): Promise<FaultyWay> {
  const faults: Fault[] = [];
  const seen: number[] = [];
  const server = createServer((request, response) => {
    const fault = request.method === 'POST' ? faults.shift() : undefined;
    void meet(request, response, gateway, fault).then((status) => seen.push(status));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    faults,
    seen,
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function meet(
  request: IncomingMessage,
  response: ServerResponse,
  gateway: string,
  fault: Fault | undefined,
): Promise<number> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  if (fault?.kind === 'cut-before') return cut(request);
  if (fault?.kind === 'answer') {
    const retryAfter = fault.retryAfterS === undefined ? {} : { 'retry-after': String(fault.retryAfterS) };
    response.writeHead(fault.status, retryAfter).end();
    return fault.status;
  }
  const answer = await forward(request, gateway, Buffer.concat(chunks));
  if (fault?.kind === 'cut-after') return cut(request);
  response.writeHead(answer.status, answer.headers).end(answer.body);
  return answer.status;
}

function cut({ socket }: IncomingMessage): number {
  socket.resetAndDestroy();
  return 0;
}

type Answer = { readonly status: number; readonly headers: NodeJS.Dict<string | string[]>; readonly body: Buffer };

function forward({ method, url, headers }: IncomingMessage, gateway: string, body: Buffer): Promise<Answer> {
  const { host, port } = new URL(gateway);
  // The header `host` still names the proxy, so that addresses that the gateway returns lead through the proxy, too.
  const options = { method, path: url, headers, host: host.split(':')[0], port, agent: false as const };
  return new Promise((resolve, reject) => {
    const request = httpRequest(options, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const { connection: _, 'transfer-encoding': __, ...kept } = answer.headers;
        resolve({ status: answer.statusCode ?? 0, headers: kept, body: Buffer.concat(chunks) });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}
