import { expect, test } from 'vitest';
import { LateCode } from './late-code.ts';

/** A request that records its outcome. */
function request() {
  const ended: string[] = [];
  return {
    ended,
    send: ({ code }: { readonly code: number }) => void ended.push(`answered ${code}`),
    attempt: (work: () => void) => work(),
    fail: (error: unknown) => void ended.push(`failed: ${String(error)}`),
    goOn: (code: string) => void ended.push(`went on with ${code}`),
  };
}

test('late code: requests wait while the code is loaded, the 33rd gets a 503, and later requests do not wait', async () => {
  let loaded: (code: string) => void = () => undefined;
  const loading = new Promise<string>((resolve) => {
    loaded = resolve;
  });
  const late = new LateCode(() => loading);
  const requests = Array.from({ length: 33 }, request);
  for (const one of requests) late.use(one, one.goOn);
  expect(requests.flatMap(({ ended }) => ended)).toEqual(['answered 503']);
  expect(late.isLoaded).toBe(false);
  loaded('it');
  await loading;
  expect(requests.flatMap(({ ended }) => ended).filter((end) => end === 'went on with it')).toHaveLength(32);
  const later = request();
  late.use(later, later.goOn);
  expect(later.ended).toEqual(['went on with it']);
});

test('late code: if loading fails, the request fails, and the next request tries to load the code again', async () => {
  let loads = 0;
  const late = new LateCode(async () => {
    loads += 1;
    if (loads === 1) throw new Error('no file');
    return 'it';
  });
  const [first, second] = [request(), request()];
  late.use(first, first.goOn);
  await expect.poll(() => first.ended).toEqual(['failed: Error: no file']);
  late.use(second, second.goOn);
  await expect.poll(() => second.ended).toEqual(['went on with it']);
});
