import { createServer } from 'node:http';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type SinkRequest = {
  readonly atMs: number;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Requests that were being answered when this one came, itself included. */
  readonly concurrent: number;
};

/** What the sink does with a request: a status, at once or later; `hang` never answers. */
export type SinkAnswer =
  | number
  | 'hang'
  | {
      readonly status: number;
      readonly delayMs?: number;
      readonly headers?: Record<string, string>;
      readonly body?: string;
    };

export type ScriptedSink = {
  readonly url: string;
  readonly requests: readonly SinkRequest[];
  /** Ids of the events it took with a 2xx, in the order they came, by path. */
  taken(path?: string): string[];
  /** Decides about each request from now on. */
  answer(script: (request: SinkRequest) => SinkAnswer): void;
  close(): Promise<void>;
};

/** An HTTP endpoint that does what a test tells it to. */
export async function startScriptedSink(): Promise<ScriptedSink> {
  const requests: SinkRequest[] = [];
  const taken: { readonly path: string; readonly id: string }[] = [];
  let script: (request: SinkRequest) => SinkAnswer = () => 200;
  let concurrent = 0;
  const server = createServer((incoming, response) => {
    concurrent += 1;
    response.on('close', () => {
      concurrent -= 1;
    });
    const chunks: Buffer[] = [];
    incoming.on('error', () => undefined);
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const request = {
        atMs: performance.now(),
        path: incoming.url ?? '',
        headers: incoming.headers,
        body,
        concurrent,
      };
      requests.push(request);
      const answer = script(request);
      if (answer === 'hang') return;
      const {
        status,
        delayMs = 0,
        headers = {},
        body: text = '',
      } = typeof answer === 'number' ? { status: answer } : answer;
      const send = (): void => {
        if (status < 300) for (const id of idsOf(body)) taken.push({ path: request.path, id });
        reply(response, status, headers, text);
      };
      if (delayMs > 0) setTimeout(send, delayMs);
      else send();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    taken: (path) => taken.filter((one) => path === undefined || one.path === path).map(({ id }) => id),
    answer: (next) => {
      script = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Ids of the events in a body of HTTPDestination; none in one of another kind. */
export function idsOf(body: string): string[] {
  if (body === '') return [];
  type Sent = { readonly event?: { readonly id: string } };
  const parsed = JSON.parse(body) as Sent | Sent[];
  return [parsed].flat().flatMap(({ event }) => event?.id ?? []);
}

function reply(response: ServerResponse, status: number, headers: Record<string, string>, body: string): void {
  if (!response.destroyed) response.writeHead(status, headers).end(body);
}
