import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { findFreePort } from '../../../shared/embedded/machine/free-port.ts';
import type { Certificate } from '../../../shared/testing/certificates.ts';
import type { Arrival } from '../judge/judge.ts';
import { readDelivered } from './visitor-events.ts';

/** How a destination responds to requests. */
export type Behaviour =
  | { readonly kind: 'take'; readonly afterMs?: number }
  | { readonly kind: 'refuse'; readonly status: number }
  /** Accepts `perS` requests per second and refuses the rest with 429. */
  | { readonly kind: 'throttle'; readonly perS: number; readonly retryAfterS: number }
  /** Reads the request and never answers. */
  | { readonly kind: 'hang' }
  /** Refuses with 503 for `everyMs`, then accepts for as long, and so on. */
  | { readonly kind: 'flap'; readonly everyMs: number }
  /** Breaks connections: alternately before the response, and in the middle of a response with status 200. */
  | { readonly kind: 'reset' }
  /** Responds 200, with a body that never ends. */
  | { readonly kind: 'endless' };

/** A test destination whose behaviour can be changed, and which records accepted requests. */
export type FaultDestination = {
  readonly name: string;
  readonly url: string;
  /** Events in requests that were answered with 2xx, in the order in which the requests were complete. */
  readonly taken: readonly Arrival[];
  /** Number of complete requests, whatever the response. */
  readonly asked: number;
  behave(behaviour: Behaviour): void;
  /** Presents this certificate to clients that connect from now on. Only with TLS. */
  show(certificate: Certificate): void;
  /** Closes its connections, including those with a request in flight. */
  disconnect(): void;
  close(): Promise<void>;
};

export type DestinationOptions = {
  /** Host name in the destination's URL. */
  readonly host?: string;
  /** Serves TLS. */
  readonly certificate?: Certificate;
};

type Decision =
  | { readonly kind: 'answer'; readonly status: number; readonly afterMs: number; readonly retryAfterS?: number }
  | { readonly kind: 'nothing' | 'break' | 'break-answer' | 'endless' };

export async function startFaultDestination(
  name: string,
  { host = '127.0.0.1', certificate }: DestinationOptions = {},
): Promise<FaultDestination> {
  const port = await findFreePort();
  const taken: Arrival[] = [];
  let asked = 0;
  let decide = decider({ kind: 'take' });
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    void readBody(request).then((body) => {
      asked += 1;
      const decision = decide(performance.now());
      if (saysYes(decision)) taken.push(arrivalOf(request, body));
      if (decision.kind !== 'answer' || decision.afterMs === 0) carryOut(response, decision);
      else setTimeout(() => carryOut(response, decision), decision.afterMs);
    });
  };
  const secure = certificate === undefined ? undefined : createSecureServer({ ...certificate }, onRequest);
  const server = secure ?? createServer(onRequest);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    name,
    url: `${secure === undefined ? 'http' : 'https'}://${host}:${port}/${name}`,
    taken,
    get asked() {
      return asked;
    },
    behave(behaviour) {
      decide = decider(behaviour);
    },
    show(shown) {
      if (secure === undefined) throw new Error(`destination ${name} is not reached by TLS`);
      secure.setSecureContext({ ...shown });
    },
    disconnect: () => server.closeAllConnections(),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Returns a function that decides how a request is answered, from its arrival time in ms. */
function decider(behaviour: Behaviour): (nowMs: number) => Decision {
  const ok = { kind: 'answer', status: 200, afterMs: 0 } as const;
  const sinceMs = performance.now();
  switch (behaviour.kind) {
    case 'take':
      return () => ({ ...ok, afterMs: behaviour.afterMs ?? 0 });
    case 'refuse':
      return () => ({ ...ok, status: behaviour.status });
    case 'hang':
      return () => ({ kind: 'nothing' });
    case 'endless':
      return () => ({ kind: 'endless' });
    case 'reset': {
      let count = 0;
      return () => ({ kind: (count += 1) % 2 === 0 ? 'break-answer' : 'break' });
    }
    case 'flap':
      return (nowMs) => (Math.floor((nowMs - sinceMs) / behaviour.everyMs) % 2 === 0 ? { ...ok, status: 503 } : ok);
    case 'throttle': {
      let second = 0;
      let count = 0;
      return (nowMs) => {
        const now = Math.floor(nowMs / 1_000);
        if (now !== second) [second, count] = [now, 0];
        count += 1;
        return count <= behaviour.perS ? ok : { ...ok, status: 429, retryAfterS: behaviour.retryAfterS };
      };
    }
  }
}

/** Whether a decision sends status 200. The destination then has the event, whatever the rest of the response is. */
function saysYes(decision: Decision): boolean {
  return decision.kind === 'answer' ? decision.status === 200 : ['break-answer', 'endless'].includes(decision.kind);
}

const promisedBytes = 1_000;
const endlessChunk = 'x'.repeat(16_384);
const endlessEveryMs = 10;

/** Sends a TCP reset; a TLS connection can only be closed. */
function breakOff(socket: Socket | null): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket?.resetAndDestroy();
}

function carryOut(response: ServerResponse, decision: Decision): void {
  switch (decision.kind) {
    case 'nothing':
      return;
    case 'break':
      breakOff(response.socket);
      return;
    case 'break-answer':
      response.writeHead(200, { 'content-length': promisedBytes });
      response.write('{"received":', () => breakOff(response.socket));
      return;
    case 'endless': {
      response.writeHead(200);
      const timer = setInterval(() => response.write(endlessChunk), endlessEveryMs);
      response.once('close', () => clearInterval(timer));
      return;
    }
    case 'answer': {
      const { status, retryAfterS } = decision;
      response.writeHead(status, {
        'content-type': 'application/json',
        ...(retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }),
      });
      response.end('{"received":true}');
    }
  }
}

/** Never resolves for a truncated request, because the destination does not have the event. */
function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    // The sender was killed in the middle of the request.
    request.on('error', () => undefined);
  });
}

function arrivalOf(request: IncomingMessage, body: string): Arrival {
  const key = request.headers['idempotency-key'];
  return { ...readDelivered(body), key: typeof key === 'string' ? key : '', atMs: performance.now() };
}
