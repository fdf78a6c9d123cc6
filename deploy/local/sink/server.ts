import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { isSitePath, serveDemoSite } from '../demo-site/serve-demo-site.ts';
import { createBehaviours } from './behaviour.ts';
import type { Behaviours } from './behaviour.ts';
import { createRecorder } from './recorder.ts';
import type { Recorder } from './recorder.ts';

export type SinkOptions = {
  readonly requestsMax: number;
  readonly bytesMax: number;
  readonly bodyBytesMax: number;
  /** The stack's `credentials.json`. If undefined, the demo site has no gateway to which it can send. */
  readonly credentialsFile?: string | undefined;
};

/** A destination for demos and tests: keeps the requests that it receives, and fails on request. */
export function createSink(options: SinkOptions): Server {
  const recorder = createRecorder(options.requestsMax, options.bytesMax);
  const behaviours = createBehaviours();
  const server = createServer((request, response) => {
    const { bodyBytesMax, credentialsFile } = options;
    void handle(request, response, { recorder, behaviours, bodyBytesMax, credentialsFile });
  });
  server.keepAliveTimeout = 60_000;
  return server;
}

type Context = Pick<SinkOptions, 'bodyBytesMax' | 'credentialsFile'> & {
  readonly recorder: Recorder;
  readonly behaviours: Behaviours;
};

async function handle(request: IncomingMessage, response: ServerResponse, context: Context): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://sink');
  const body = await readBody(request, context.bodyBytesMax);
  if (body === undefined) {
    reply(response, 413, { error: `the body is larger than ${context.bodyBytesMax} bytes` });
    return;
  }
  if (request.method === 'GET' && isSitePath(url.pathname)) {
    return serveDemoSite(response, url.pathname, context.credentialsFile);
  }
  switch (`${request.method} ${url.pathname}`) {
    case 'GET /events':
      return listEvents(response, url, context.recorder);
    case 'DELETE /events':
      context.recorder.clear();
      return reply(response, 200, { deleted: true });
    case 'GET /stats':
      return reply(response, 200, context.recorder.stats());
    case 'GET /livez':
      return reply(response, 200, { ok: true });
    case 'GET /behaviour':
      return reply(response, 200, { behaviours: context.behaviours.list() });
    case 'DELETE /behaviour':
      context.behaviours.clear();
      return reply(response, 200, { behaviours: [] });
    case 'PUT /behaviour':
      return setBehaviour(response, url, body, context.behaviours);
    default:
      return receive(request, response, url, body, context);
  }
}

/** Maximum bytes of the bodies in one list, because a list is one text in memory. */
const listedBytesMax = 16 * 1024 ** 2;

function listEvents(response: ServerResponse, url: URL, recorder: Recorder): void {
  const limit = Number(url.searchParams.get('limit') ?? '100');
  if (!Number.isInteger(limit) || limit < 1)
    return reply(response, 400, { error: 'limit must be a whole number above 0' });
  reply(response, 200, { events: recorder.newest(limit, listedBytesMax) });
}

function setBehaviour(response: ServerResponse, url: URL, body: Buffer, behaviours: Behaviours): void {
  const input = parseBody(body);
  const path = url.searchParams.get('path');
  const given = path === null || typeof input !== 'object' || input === null ? input : { path, ...input };
  const problem = behaviours.set(given);
  if (problem !== undefined) return reply(response, 400, { error: problem });
  reply(response, 200, { behaviours: behaviours.list() });
}

function receive(request: IncomingMessage, response: ServerResponse, url: URL, body: Buffer, context: Context): void {
  const decision = context.behaviours.decide(url.pathname);
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  context.recorder.add(
    {
      time: new Date().toISOString(),
      method: request.method ?? '',
      path: `${url.pathname}${url.search}`,
      headers,
      body: parseBody(body),
      status: decision.status,
    },
    body.length,
  );
  const { status, delayMs, retryAfterS, body: answered } = decision;
  if (status === null) return;
  const answer = (): void => {
    const isTaken = status >= 200 && status < 300;
    if (retryAfterS !== undefined && !isTaken) response.setHeader('retry-after', retryAfterS);
    reply(response, status, isTaken || answered === undefined ? { received: isTaken } : answered);
  };
  if (delayMs === 0) answer();
  else setTimeout(answer, delayMs);
}

async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request) {
      if (!Buffer.isBuffer(chunk)) continue;
      bytes += chunk.length;
      if (bytes <= bytesMax) chunks.push(chunk);
    }
  } catch {
    // The client disconnected: an incomplete request is not recorded.
    return undefined;
  }
  return bytes > bytesMax ? undefined : Buffer.concat(chunks);
}

function parseBody(body: Buffer): unknown {
  if (body.length === 0) return null;
  const text = body.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  if (response.destroyed) return;
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}
