import { request } from 'undici';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { twinMark } from '../../shared/testing/twin-rows.ts';
import type { AnswerCheck } from './answer-check.ts';

/** The body of an answer. Untyped, because tests check it themselves. */
// oxlint-disable-next-line typescript/no-explicit-any -- a test reads members of any answer
type Body = any;

export type Answer = { readonly status: number; readonly body: Body; readonly headers: JsonObject };

export type Call = {
  readonly body?: unknown;
  /** Sent unchanged, instead of `body`. */
  readonly raw?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
};

/** A client of one account. */
export type Client = {
  readonly accountId: string;
  readonly key: string;
  readonly keyId: string;
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  patch(path: string, body: unknown): Promise<Answer>;
  delete(path: string): Promise<Answer>;
  call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT', path: string, call?: Call): Promise<Answer>;
  /** Creates a version of the draft and publishes it. */
  publish(body?: unknown): Promise<Body>;
};

export function createClient(options: {
  readonly baseUrl: string;
  readonly accountId: string;
  readonly key: string;
  readonly keyId: string;
  readonly check: AnswerCheck;
}): Client {
  const call: Client['call'] = async (method, path, { body, raw, headers } = {}) => {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const answer = await request(`${options.baseUrl}/rest/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${options.key}`,
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload === undefined ? {} : { body: payload }),
    });
    const text = await answer.body.text();
    if (text.includes(twinMark)) throw new Error(`${method} ${path} shows what another account has: ${text}`);
    const value = JSON.parse(text) as unknown;
    options.check(method, `/rest/v1${path}`, answer.statusCode, value);
    return { status: answer.statusCode, body: value, headers: answer.headers };
  };
  const withBody = (body: unknown): Call => (body === undefined ? {} : { body });
  return {
    ...options,
    call,
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, withBody(body)),
    patch: (path, body) => call('PATCH', path, { body }),
    delete: (path) => call('DELETE', path),
    async publish(body) {
      const created = await call('POST', '/versions', withBody(body));
      if (created.status !== 200) throw new Error(`creating a version: ${JSON.stringify(created.body)}`);
      const published = await call('POST', `/versions/${created.body.id}/publish`);
      if (published.status !== 200) throw new Error(`publishing a version: ${JSON.stringify(published.body)}`);
      return published.body;
    },
  };
}
