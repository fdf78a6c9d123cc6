import { rawPost } from '../raw-request.ts';
import type { RawPart } from '../raw-request.ts';

/** Bytes that no HTTP client would send, to be written on a connection of their own; `n` chooses them. */
export function hostileConnection(token: string, n: number): readonly RawPart[] {
  const body = JSON.stringify({ token, event: 'Raw', distinctId: `raw-${n}` });
  const json = 'Content-Type: application/json';
  const length = `Content-Length: ${body.length}`;
  const good = rawPost('/api/v1/track', [json, length], body);
  const shapes: readonly (readonly RawPart[])[] = [
    [good + good + good],
    [rawPost('/api/v1/track', [json, length, 'Content-Length: 3'], body)],
    [rawPost('/api/v1/track', [json, length, 'Transfer-Encoding: chunked'], body)],
    [rawPost('/api/v1/track', [json, 'Transfer-Encoding: xchunked'], body)],
    [rawPost('/api/v1/track', [json, 'Transfer-Encoding: chunked'], ''), `${(n % 64).toString(16)}\r\n`, 'zz\r\n'],
    [rawPost('/api/v1/track', [json, length, ...Array.from({ length: 120 }, (_, i) => `x-${i}: ${n}`)], body)],
    [rawPost('/api/v1/track', [json, length, `x: ${'y'.repeat(n % 20_000)}`], body)],
    [rawPost(`/api/v1/${'%2e'.repeat(n % 200)}`, [json, length], body)],
    [`GET /pixel/${token}.gif?event=${'%00'.repeat(n % 100)}&a=%zz HTTP/1.1\r\nHost: gateway\r\n\r\n`],
    [`GET /redirect/${'a'.repeat(n % 1_000)} HTTP/1.1\r\nHost: gateway\r\n\r\n`],
    [good.slice(0, n % good.length)],
    [good.replace('HTTP/1.1', `HTTP/${n % 10}.${n % 7}`)],
    [Buffer.from(Array.from({ length: n % 400 }, (_, i) => (n * 31 + i * 17) % 256))],
  ];
  return shapes[n % shapes.length] ?? [good];
}
