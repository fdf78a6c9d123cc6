import { definePlatform, noCredentials } from '../sdk/platform.ts';
import type { PlatformEndpoint } from '../sdk/platform.ts';

const endpoint: Omit<PlatformEndpoint, 'method'> = {
  path: '**',
  credentials: noCredentials,
  headers: { 'idempotency-key': /\S/ },
  content: 'text',
};

/**
 * An endpoint that accepts every request, because only its owner knows what it requires.
 * https://www.rfc-editor.org/rfc/rfc9110
 */
export const customEndpoint = definePlatform({
  endpoints: [
    { ...endpoint, method: 'POST' },
    { ...endpoint, method: 'PUT' },
    { ...endpoint, method: 'PATCH' },
    { ...endpoint, method: 'GET', content: 'none' },
  ],
  answers: {
    success: () => ({ status: 200 }),
    refusal: ({ field, message }) => ({ status: 422, body: { field, message } }),
    throttled: { status: 429, headers: { 'retry-after': '7' } },
    endedToken: { status: 401 },
  },
});
