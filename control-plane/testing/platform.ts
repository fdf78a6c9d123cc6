import { createServer } from 'node:http';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type PlatformRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

/** What destinations of a test send to. */
export type Platform = {
  readonly url: string;
  readonly requests: readonly PlatformRequest[];
  /** Answers each request from now on. */
  answer(script: (request: PlatformRequest, response: ServerResponse) => void): void;
  close(): Promise<void>;
};

/** An HTTP server that answers 200 until told otherwise. */
export async function startPlatform(): Promise<Platform> {
  const requests: PlatformRequest[] = [];
  let script: Parameters<Platform['answer']>[0] = (_request, response) => void response.end('ok');
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('error', () => undefined);
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method = '', url = '', headers } = incoming;
      const request = { method, url, headers, body: Buffer.concat(chunks).toString('utf8') };
      requests.push(request);
      script(request, response);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
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
