import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { UwsUnavailableError, enginePackages, loadUws } from './uws.ts';

const require = createRequire(import.meta.url);
const { platform, arch, versions } = process;
const major = Number(versions.node.split('.', 1)[0]);
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-engine-'));
  await mkdir(join(folder, 'node_modules'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Copies the engine packages without their builds. */
async function installPackages(): Promise<void> {
  for (const { packageName } of enginePackages) {
    const from = dirname(require.resolve(packageName));
    await cp(from, join(folder, 'node_modules', packageName), {
      recursive: true,
      filter: (path) => !path.startsWith(join(from, 'node_modules')),
    });
  }
}

async function putBuild(name: string, code: string): Promise<void> {
  const build = join(folder, 'node_modules', '@uwsjs', name);
  await mkdir(build, { recursive: true });
  await writeFile(join(build, 'package.json'), JSON.stringify({ name: `@uwsjs/${name}`, main: 'index.js' }));
  await writeFile(join(build, 'index.js'), code);
}

function failureOf(): string {
  try {
    loadUws(createRequire(join(folder, 'any.js')));
  } catch (error) {
    if (error instanceof UwsUnavailableError) return error.message;
    throw error;
  }
  return 'it loaded';
}

test('engine: it loads here and reports which build runs', () => {
  const { packageName, version } = loadUws();
  expect(enginePackages.map((each) => each.packageName)).toContain(packageName);
  expect(version).toMatch(/^\d+\.\d+\.\d+$/);
});

test('engine: if node_modules is for another major version of Node, the error says so and how to fix it', async () => {
  await installPackages();
  await putBuild(`${platform}-${arch}-${major === 20 ? 22 : 20}`, 'throw new Error("not for this Node")');
  expect(failureOf()).toBe(
    `node_modules holds the HTTP engine for Node ${major === 20 ? 22 : 20} on ${platform}-${arch} only, ` +
      `and this is Node ${versions.node} on ${platform}-${arch}: run npm ci with this Node, on this machine`,
  );
});

test('engine: a build that does not load is reported with the system’s message', async () => {
  await installPackages();
  await putBuild(`${platform}-${arch}-${major}`, 'throw new Error("libx.so: cannot open shared object file")');
  expect(failureOf()).toMatch(
    /^the HTTP engine does not load \(uWebSockets\.js: Error: libx\.so: cannot open shared object file; .*\): run npm ci$/,
  );
});

test('engine: if node_modules has no build, the error advises npm ci', () => {
  expect(failureOf()).toBe('node_modules holds no HTTP engine: run npm ci');
});

test.runIf(platform === 'linux')('engine: the oldest glibc of each package is the one its builds require', async () => {
  const asked: string[] = [];
  for (const { packageName, glibcMin } of enginePackages) {
    const own = dirname(require.resolve(packageName));
    const manifest = JSON.parse(await readFile(join(own, 'package.json'), 'utf8')) as { version: string };
    for (const around of [join(own, 'node_modules'), dirname(own)]) {
      const build = join(around, '@uwsjs', `${platform}-${arch}-${major}`);
      const found = await readFile(join(build, 'package.json'), 'utf8').catch(() => undefined);
      // If both packages have a build for this Node, npm installs one package's builds inside that package's folder.
      if (found === undefined || (JSON.parse(found) as { version: string }).version !== manifest.version) continue;
      const symbols = (await readFile(join(build, 'uws.node'))).toString('latin1').matchAll(/GLIBC_2\.(\d+)/g);
      asked.push(packageName);
      expect(`2.${Math.max(...[...symbols].map(([, minor]) => Number(minor)))}`).toBe(glibcMin);
    }
  }
  expect(asked).not.toEqual([]);
});
