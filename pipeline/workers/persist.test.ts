import { describe, expect, it } from 'vitest';
import { persist } from './persist.ts';

const passing = new Error('away');

describe('persist', () => {
  it('persist: tries again while the failure may pass, and says so each time', async () => {
    const retries: number[] = [];
    const options = {
      signal: new AbortController().signal,
      isPassing: (error: unknown) => error === passing,
      onRetry: (_error: unknown, attempt: number) => void retries.push(attempt),
    };
    const work = (attempt: number) => (attempt < 3 ? Promise.reject(passing) : Promise.resolve(attempt));
    expect(await persist(work, options)).toBe(3);
    expect(retries).toEqual([1, 2]);
  });

  it('persist: throws what will not pass at once', async () => {
    const options = { signal: new AbortController().signal, isPassing: () => false, onRetry: () => undefined };
    await expect(persist(() => Promise.reject(new Error('bug')), options)).rejects.toThrow('bug');
  });

  it('persist: ends when told to, in the middle of a pause too', async () => {
    const abort = new AbortController();
    const options = { signal: abort.signal, isPassing: () => true, onRetry: () => abort.abort() };
    await expect(persist(() => Promise.reject(passing), options)).rejects.toThrow(/abort/);
    await expect(persist(() => Promise.resolve(1), options)).rejects.toThrow(/abort/);
  });
});
