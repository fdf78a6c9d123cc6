import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { findFreePort } from '../../../shared/embedded/machine/free-port.ts';
import type { Arrival } from '../judge/judge.ts';
import { readVisitorName } from './visitor-events.ts';

/** What a destination does with the requests that come from now on. */
export type Behaviour =
  | { readonly kind: 'take'; readonly afterMs?: number }
  | { readonly kind: 'refuse'; readonly status: number }
  /** Takes so many a second and refuses the rest with 429. */
  | { readonly kind: 'throttle'; readonly perS: number; readonly retryAfterS: number }
  /** Reads the request and never answers. */
  | { readonly kind: 'hang' }
  /** Takes for a while, then refuses for as long. */
  | { readonly kind: 'flap'; readonly everyMs: number };

/** Plays a destination whose behaviour can be changed, and keeps what it took. */
export type FaultDestination = {
  readonly name: string;
  readonly url: string;
  /** What it answered 2xx, in the order in which requests were complete. */
  readonly taken: readonly Arrival[];
  behave(behaviour: Behaviour): void;
  close(): Promise<void>;
};

type Decision = { readonly status: number; readonly afterMs: number; readonly retryAfterS?: number } | undefined;

export async function startFaultDestination(name: string): Promise<FaultDestination> {
  const port = await findFreePort();
  const taken: Arrival[] = [];
  let decide = decider({ kind: 'take' });
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const decision = decide(performance.now());
      if (decision === undefined) return;
      if (decision.status === 200) taken.push(arrivalOf(request, body));
      if (decision.afterMs === 0) answer(response, decision);
      else setTimeout(() => answer(response, decision), decision.afterMs);
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    name,
    url: `http://127.0.0.1:${port}/${name}`,
    taken,
    behave(behaviour) {
      decide = decider(behaviour);
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** What becomes of a request, by the time it came; undefined: nothing. */
function decider(behaviour: Behaviour): (nowMs: number) => Decision {
  const ok = { status: 200, afterMs: 0 };
  const sinceMs = performance.now();
  switch (behaviour.kind) {
    case 'take':
      return () => ({ ...ok, afterMs: behaviour.afterMs ?? 0 });
    case 'refuse':
      return () => ({ status: behaviour.status, afterMs: 0 });
    case 'hang':
      return () => undefined;
    case 'flap':
      return (nowMs) => (Math.floor((nowMs - sinceMs) / behaviour.everyMs) % 2 === 0 ? { ...ok, status: 503 } : ok);
    case 'throttle': {
      let second = 0;
      let count = 0;
      return (nowMs) => {
        const now = Math.floor(nowMs / 1_000);
        if (now !== second) [second, count] = [now, 0];
        count += 1;
        return count <= behaviour.perS ? ok : { status: 429, afterMs: 0, retryAfterS: behaviour.retryAfterS };
      };
    }
  }
}

function answer(response: ServerResponse, { status, retryAfterS }: NonNullable<Decision>): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }),
  });
  response.end('{"received":true}');
}

/** Never resolves for a request that was cut off: a destination does not have it. */
function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    // Its sender was killed in the middle.
    request.on('error', () => undefined);
  });
}

function arrivalOf(request: IncomingMessage, body: string): Arrival {
  const key = request.headers['idempotency-key'];
  return { ...readVisitorName(body), key: typeof key === 'string' ? key : '', atMs: performance.now() };
}
