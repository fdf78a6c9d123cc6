import { TooManyWaitingError } from './batch-calls.ts';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { uuidv7 } from 'uuidv7';
import { allowPreflight } from '../../../shared/admission/preflight.ts';
import type { ClientAddress } from '../../../shared/admission/client-address.ts';
import { PublishError } from '../../../shared/nats/publish/publisher.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { ApiError, badRequest } from '../../api/api-error.ts';
import { failureOf, loggableError } from '../../api/failure.ts';
import type { HttpCounts } from '../../api/http-counts.ts';
import type { ExperimentAnswer, ExperimentCall, ExperimentService } from './experiment-service.ts';
import { encodeAnswer, unavailable } from './experiment-service.ts';
import { describeAssignments } from '../../../shared/experiments/assignment-bodies.ts';

export type ServeExperiments = {
  readonly experiments: ExperimentService;
  readonly clientAddress: ClientAddress;
  readonly counts: HttpCounts;
  readonly logger: Logger;
};

const assignmentsPath = '/experiments/assignments/';
const personalizationPath = '/experiments/personalization';
const flagsPath = '/experiments/flags';
const bodyBytesMax = 64 * 1024;
const allowAll = { 'access-control-allow-origin': '*' };

/**
 * Serves assignments and personalization before the app's own routes, because the app's hooks, parsers and serializers
 * cost several times as much as an assignment, and pages wait for the reply.
 */
export function serveExperiments(app: FastifyInstance, options: ServeExperiments): void {
  const { counts } = options;
  const asAssignment: Route = {
    name: `${assignmentsPath}:key`,
    answer: (call, key) => options.experiments.assign(key, call),
  };
  const asPersonalization: Route = {
    name: personalizationPath,
    answer: (call) => options.experiments.personalize(call),
  };
  const asFlags: Route = { name: flagsPath, answer: (call) => options.experiments.flags(call) };
  for (const { name } of [asAssignment, asPersonalization, asFlags]) counts.expect(name, 'POST');
  app.options('/experiments/*', ({ headers }, reply) => {
    const asked = {
      requestHeaders: headers['access-control-request-headers'] ?? '',
      requestPrivateNetwork: String(headers['access-control-request-private-network'] ?? ''),
    };
    return reply
      .code(204)
      .headers({ ...allowAll, ...Object.fromEntries(allowPreflight(asked, 'POST')) })
      .send();
  });

  const rest = app.server.listeners('request') as RequestListener[];
  app.server.removeAllListeners('request');
  app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const path = request.method === 'POST' ? pathOf(request.url ?? '') : '';
    if (path.startsWith(assignmentsPath) && !path.includes('/', assignmentsPath.length)) {
      void serve(asAssignment, path.slice(assignmentsPath.length), request, response, options);
    } else if (path === personalizationPath) {
      void serve(asPersonalization, '', request, response, options);
    } else if (path === flagsPath) {
      void serve(asFlags, '', request, response, options);
    } else {
      for (const listener of rest) listener(request, response);
    }
  });
}

type Route = {
  /** Label in metrics. */
  readonly name: string;
  answer(call: ExperimentCall, key: string): Promise<ExperimentAnswer>;
};

/** Never rejects: errors become answers. */
async function serve(
  route: Route,
  key: string,
  request: IncomingMessage,
  response: ServerResponse,
  { clientAddress, counts, logger }: ServeExperiments,
): Promise<void> {
  const startedMs = performance.now();
  const { headers, socket } = request;
  let status = 200;
  try {
    if (!isJsonType(headers['content-type'])) throw notJson;
    const call: ExperimentCall = {
      body: await readBody(request, bodyBytesMax),
      origin: headers.origin ?? '',
      referer: headers.referer ?? '',
      // Repeated headers arrive as one list, in which one `1` is enough.
      hasGpc: String(headers['sec-gpc'] ?? '')
        .split(/\s*,\s*/)
        .includes('1'),
      clientAddress: () => clientAddress.ofText(socket.remoteAddress ?? '', String(headers['x-forwarded-for'] ?? '')),
    };
    send(response, status, await route.answer(call, decodeKey(key)));
  } catch (error) {
    const isBusy = error instanceof PublishError || error instanceof TooManyWaitingError;
    const failure = isBusy ? unavailable(error) : failureOf(error);
    ({ status } = failure);
    const more = status === 503 || status === 429 ? ['retry-after', '1'] : [];
    // The rest of the body is not read.
    if (!request.complete) more.push('connection', 'close');
    if (status >= 500) {
      const requestId = uuidv7();
      more.push('x-request-id', requestId);
      logger.error({ requestId, status, failure: loggableError(failure.cause) }, 'request for an experiment failed');
    }
    send(response, status, failed, more);
  }
  counts.count(route.name, 'POST', status, performance.now() - startedMs);
}

const failed = encodeAnswer({ success: false });
const notJson = new ApiError(415, 'media_type', 'the body must be sent as JSON');

function send(
  response: ServerResponse,
  status: number,
  { text, bytes }: ExperimentAnswer,
  more: readonly string[] = [],
): void {
  // The client may have disconnected.
  if (response.destroyed) return;
  response.writeHead(status, [
    'content-type',
    'application/json; charset=utf-8',
    'content-length',
    String(bytes),
    'access-control-allow-origin',
    '*',
    'cache-control',
    'no-store',
    ...more,
  ]);
  response.end(text);
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  const path = end < 0 ? url : url.slice(0, end);
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

function decodeKey(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw badRequest('the experiment key has a malformed percent-encoding');
  }
}

/** Whether the body may be JSON. To avoid a CORS preflight, pages send JSON as text, or without a type. */
function isJsonType(contentType: string | undefined): boolean {
  return contentType === undefined || /^(?:application\/json|text\/plain)\s*(?:;|$)/i.test(contentType);
}

/** The experiment endpoints, by path, as the OpenAPI document shows them. */
export const assignmentPaths = describeAssignments({
  prefix: '',
  keyName: 'key',
  flagsPath,
  members: { tags: ['Experiment assignments'], security: [] },
  failures: { 500: 'Internal error; the answer carries x-request-id.' },
});

const bodyGone = new ApiError(400, 'bad_request', 'the request ended before its body was complete');

/** Reads a request's body. Rejects with a 413 once the body is too large, and also when the client disconnects. */
function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const tooLarge = (): void => reject(new ApiError(413, 'too_large', `the body must be at most ${bytesMax} bytes`));
    if (Number(request.headers['content-length'] ?? 0) > bytesMax) return tooLarge();
    let first: Buffer | undefined;
    let more: Buffer[] | undefined;
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) {
        request.removeAllListeners('data');
        request.pause();
        tooLarge();
      } else if (first === undefined) first = chunk;
      else (more ??= [first]).push(chunk);
    });
    // Usually the body is one piece.
    request.on('end', () => resolve(more === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(more)));
    request.on('error', () => reject(bodyGone));
    request.on('close', () => reject(bodyGone));
  });
}
