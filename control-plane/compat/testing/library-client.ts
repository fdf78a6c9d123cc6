import { twinMark } from '../../../shared/testing/twin-rows.ts';
import { documents } from '../../endpoints.ts';
import { createAnswerCheck } from '../../testing/answer-check.ts';
import type { Answer, Client } from '../../testing/client.ts';

/** Sends requests as the platform library does. */
export type LibraryClient = {
  get(path: string): Promise<LibraryAnswer>;
  post(path: string, body?: unknown): Promise<LibraryAnswer>;
  put(path: string, body: unknown): Promise<LibraryAnswer>;
  patch(path: string, body: unknown): Promise<LibraryAnswer>;
  delete(path: string): Promise<LibraryAnswer>;
  /** Entities of all pages of a list, requested as the library's iterator requests them. */
  all(path: string): Promise<readonly Answer['body'][]>;
};

/** The last response, and how often the request was sent. */
export type LibraryAnswer = Answer & { readonly sent: number };

const retriesMax = 2;
const check = createAnswerCheck(documents.toReversed());

/**
 * Sends the library's headers, and retries like the library: after 408, 409, 429 and 5xx, unless the header
 * `x-should-retry` overrides that. Every response is first checked against the library's OpenAPI document.
 */
export function createLibraryClient(baseUrl: string, { key }: Client): LibraryClient {
  const send = async (method: string, path: string, body?: unknown): Promise<LibraryAnswer> => {
    for (let sent = 1; ; sent += 1) {
      const answer = await fetch(`${baseUrl}/rest/v1${path}`, {
        method,
        headers: {
          accept: 'application/json',
          'x-stainless-lang': 'js',
          'x-stainless-package-version': '1.44.0',
          'x-stainless-os': 'Linux',
          'x-stainless-arch': 'x64',
          'x-stainless-runtime': 'node',
          'x-stainless-runtime-version': process.version,
          'x-stainless-retry-count': String(sent - 1),
          authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      if (text.includes(twinMark)) throw new Error(`${method} ${path} shows what another account has: ${text}`);
      const value: unknown = JSON.parse(text);
      check(method, `/rest/v1${path}`, answer.status, value);
      if (sent <= retriesMax && shouldRetry(answer)) continue;
      return { status: answer.status, body: value, headers: Object.fromEntries(answer.headers), sent };
    }
  };
  return {
    get: (path) => send('GET', path),
    post: (path, body) => send('POST', path, body),
    put: (path, body) => send('PUT', path, body),
    patch: (path, body) => send('PATCH', path, body),
    delete: (path) => send('DELETE', path),
    async all(path) {
      const entities: Answer['body'][] = [];
      const joint = path.includes('?') ? '&' : '?';
      let cursor: string | null = null;
      do {
        const { body } = await send(
          'GET',
          cursor === null ? path : `${path}${joint}cursor=${encodeURIComponent(cursor)}`,
        );
        entities.push(...body.entities);
        cursor = body.pagination.nextCursor;
      } while (cursor !== null);
      return entities;
    },
  };
}

function shouldRetry({ status, headers }: Response): boolean {
  const told = headers.get('x-should-retry');
  if (told !== null) return told === 'true';
  return status === 408 || status === 409 || status === 429 || status >= 500;
}
