import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { compiledPath, topFolder } from './compiled-path.ts';

const inTop = (path: string): string => fileURLToPath(new URL(path, topFolder));

test('compiled path: of a source file, its place in the build, where it is', () => {
  expect(existsSync(inTop('package.json'))).toBe(true);
  const path = compiledPath(new URL('./compiled-path.ts', import.meta.url));
  expect(path).toBe(inTop('dist/shared/runtime/compiled-path.js'));
  expect(existsSync(path)).toBe(true);
});

test('compiled path: of a file that is named from within the build, the one beside it', () => {
  expect(compiledPath(new URL('dist/gateway/main.ts', topFolder))).toBe(inTop('dist/gateway/main.js'));
});

test('compiled path: the build says the same of itself', async () => {
  const built = (await import(compiledPath(new URL('./compiled-path.ts', import.meta.url)))) as {
    readonly topFolder: URL;
    compiledPath(source: URL): string;
  };
  expect(built.topFolder.href).toBe(topFolder.href);
  expect(built.compiledPath(new URL('gateway/main.ts', topFolder))).toBe(inTop('dist/gateway/main.js'));
});
