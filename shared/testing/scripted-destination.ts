import { createServer } from 'node:http';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type DestinationRequest = {
  /** When the body was complete, by performance.now(). */
  readonly atMs: number;
  readonly method: string;
  /** Path with the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Number of requests in progress when this one arrived, including this one. */
  readonly concurrent: number;
};

/** How the destination answers a request: with a status, at once or later; `hang` never answers. */
export type DestinationAnswer =
  | number
  | 'hang'
  | {
      readonly status: number;
      readonly delayMs?: number;
      readonly headers?: Record<string, string>;
      readonly body?: string;
    };

type Script = (request: DestinationRequest) => DestinationAnswer | Promise<DestinationAnswer>;

export type ScriptedDestination = {
  readonly url: string;
  readonly requests: readonly DestinationRequest[];
  /** Ids of the events answered with a 2xx, in the order of the answers; with `path`, only those sent to that path. */
  taken(path?: string): string[];
  /** Sets the script that answers each request from now on; a promise delays the answer. */
  answer(script: Script): void;
  close(): Promise<void>;
};

/** An HTTP endpoint that answers as a test's script decides, and answers 200 without a script. */
export async function startScriptedDestination(): Promise<ScriptedDestination> {
  const requests: DestinationRequest[] = [];
  const taken: { readonly path: string; readonly id: string }[] = [];
  let script: Script = () => 200;
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
        method: incoming.method ?? '',
        path: incoming.url ?? '',
        headers: incoming.headers,
        body,
        concurrent,
      };
      requests.push(request);
      const act = (answer: DestinationAnswer): void => {
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
      };
      const answer = script(request);
      if (answer instanceof Promise) void answer.then(act);
      else act(answer);
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

/** Ids of the events in a request body of HTTPDestination; empty for a body of another kind. */
export function idsOf(body: string): string[] {
  type Sent = { readonly event?: { readonly id?: string } } | null;
  return [parse(body)].flat().flatMap((sent) => (sent as Sent)?.event?.id ?? []);
}

/** Undefined for a body that is not JSON, because some kinds send forms and lines. */
function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function reply(response: ServerResponse, status: number, headers: Record<string, string>, body: string): void {
  if (!response.destroyed) response.writeHead(status, headers).end(body);
}
