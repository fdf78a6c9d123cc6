import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { compiledPath, topFolder } from './compiled-path.ts';

const inTop = (path: string): string => fileURLToPath(new URL(path, topFolder));

test('compiled path: the compiled file of a source file exists in the build', () => {
  expect(existsSync(inTop('package.json'))).toBe(true);
  const path = compiledPath(new URL('./compiled-path.ts', import.meta.url));
  expect(path).toBe(inTop('dist/shared/runtime/compiled-path.js'));
  expect(existsSync(path)).toBe(true);
});

test('compiled path: a path within the build leads to the compiled file beside it', () => {
  expect(compiledPath(new URL('dist/gateway/main.ts', topFolder))).toBe(inTop('dist/gateway/main.js'));
});

test('compiled path: the build computes the same paths as the sources', async () => {
  const built = (await import(compiledPath(new URL('./compiled-path.ts', import.meta.url)))) as {
    readonly topFolder: URL;
    compiledPath(source: URL): string;
  };
  expect(built.topFolder.href).toBe(topFolder.href);
  expect(built.compiledPath(new URL('gateway/main.ts', topFolder))).toBe(inTop('dist/gateway/main.js'));
});
