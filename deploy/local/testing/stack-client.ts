import type { Credentials } from '../credentials.ts';

export type SinkRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Status of the sink's answer; null if it did not answer. */
  readonly status: number | null;
};

type Json = Readonly<Record<string, unknown>>;

/** Uses the stack as its users do, over its public APIs only. */
export type StackClient = {
  track(event: Json): Promise<number>;
  /** One call of the configuration interface; throws on anything but 2xx. */
  api(method: string, path: string, body?: Json): Promise<Json>;
  /** Publishes the draft as a new version. */
  publish(name: string): Promise<void>;
  sinkRequests(path: string): Promise<readonly SinkRequest[]>;
  setSink(behaviour: Json): Promise<void>;
};

const deadlineMs = 15_000;

export function createStackClient(credentials: Credentials): StackClient {
  const { gateway, controlPlane, sink, apiKey, sourceToken } = credentials;
  const call = async (url: string, method: string, body: Json | undefined, key?: string): Promise<Response> =>
    fetch(url, {
      method,
      signal: AbortSignal.timeout(deadlineMs),
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const api = async (method: string, path: string, body?: Json): Promise<Json> => {
    const answer = await call(`${controlPlane}/rest/v1/${path}`, method, body, apiKey);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as Json;
  };
  return {
    async track(event) {
      const answer = await call(`${gateway}/api/v1/track`, 'POST', { token: sourceToken, ...event });
      await answer.arrayBuffer();
      return answer.status;
    },
    api,
    async publish(name) {
      const version = await api('POST', 'versions', { name });
      await api('POST', `versions/${String(version['id'])}/publish`);
    },
    async sinkRequests(path) {
      const answer = await call(`${sink}/events?limit=1000000`, 'GET', undefined);
      const { events } = (await answer.json()) as { readonly events: readonly SinkRequest[] };
      return events.filter((event) => event.path === path);
    },
    async setSink(behaviour) {
      await call(`${sink}/behaviour`, 'PUT', behaviour);
    },
  };
}
