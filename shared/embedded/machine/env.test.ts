import { tmpdir } from 'node:os';
import { afterEach, expect, test, vi } from 'vitest';

import { defaultEmbeddedCacheDir } from './env.ts';

afterEach(() => vi.unstubAllEnvs());

test('cache dir: is in XDG_CACHE_HOME, else in the home folder, else in the folder for temporary files', () => {
  vi.stubEnv('XDG_CACHE_HOME', '/xdg');
  vi.stubEnv('HOME', '/home/me');
  expect(defaultEmbeddedCacheDir()).toBe('/xdg/sluice');
  vi.stubEnv('XDG_CACHE_HOME', 'not/absolute');
  expect(defaultEmbeddedCacheDir()).toBe('/home/me/.cache/sluice');
  vi.stubEnv('HOME', '');
  expect(defaultEmbeddedCacheDir().startsWith(`${tmpdir()}/sluice-cache-`)).toBe(true);
});
