import { startTestNats } from '../../shared/testing/servers.ts';
import { startGatewayHere } from './gateway-here.ts';
import type { GatewayUnderTest } from './gateway-here.ts';
import { openTestLog } from './test-log.ts';
import type { TestLog } from './test-log.ts';
import { allTestSources } from './test-sources.ts';

export type JsonAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
};

/** A log with every kind of source published, and a gateway on that log which trusts 127.0.0.1 as its proxy. */
export type RouteRig = {
  readonly log: TestLog;
  readonly gateway: GatewayUnderTest;
  /** Posts to a path below /api/v1. A body that is neither text nor bytes is sent as JSON. */
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<JsonAnswer>;
  stop(): Promise<void>;
};

export async function startRouteRig(own: Readonly<Record<string, string>> = {}): Promise<RouteRig> {
  const nats = await startTestNats();
  const log = await openTestLog(nats.url);
  await log.publishSources(allTestSources);
  const gateway = await startGatewayHere(nats.url, { TRUSTED_PROXIES: '127.0.0.1', ...own });
  return {
    log,
    gateway,
    async post(path, body, headers = {}) {
      const payload = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
      const answer = await fetch(`${gateway.url}/api/v1/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof payload === 'string' ? payload : new Uint8Array(payload),
      });
      const received = JSON.parse(await answer.text()) as Record<string, unknown>;
      return { status: answer.status, headers: answer.headers, body: received };
    },
    async stop() {
      await gateway.stop();
      await log.close();
      await nats.stop();
    },
  };
}
