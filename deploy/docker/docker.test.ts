import { execFile } from 'node:child_process';
import { access, chmod, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readHealthcheckEnv } from './env.ts';
import { healthUrl } from './health-url.ts';

const top = join(import.meta.dirname, '../..');
const read = (path: string): Promise<string> => readFile(join(top, path), 'utf8');
const run = promisify(execFile);

/** The instructions of the Dockerfile, with continued lines joined. */
const instructions = async (): Promise<string[]> =>
  (await read('deploy/docker/Dockerfile'))
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');

/** The files that `entries` reach by imports or as entries of threads, and the imported packages, without types. */
async function readImports(
  entries: readonly string[],
): Promise<{ readonly files: ReadonlySet<string>; readonly packages: ReadonlySet<string> }> {
  const files = new Set(entries);
  const packages = new Set<string>();
  // A loop over a set also visits entries that are added meanwhile.
  for (const file of files) {
    const text = (await read(file)).replaceAll(/^(?:import|export) type [^;]*;/gm, '');
    for (const [, imported = ''] of text.matchAll(/(?:^import |\bfrom |new URL\((?='\.))'([^']+)'/gm)) {
      if (/^\..*\.ts$/.test(imported)) files.add(join(dirname(file), imported));
      else if (/^[@\w]/.test(imported) && !isBuiltin(imported)) packages.add(packageOf(imported));
    }
  }
  return { files, packages };
}

const packageOf = (imported: string): string => imported.split('/', imported.startsWith('@') ? 2 : 1).join('/');

test('image: every path that the Dockerfile copies exists, and .dockerignore lets it through', async () => {
  const taken = (await read('.dockerignore'))
    .split('\n')
    .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
  const copied = (await instructions())
    .filter((line) => line.startsWith('COPY') && !line.includes('--from'))
    .flatMap((line) =>
      line
        .split(' ')
        .slice(1, -1)
        .filter((word) => !word.startsWith('--')),
    );
  expect(copied).toContain('deploy/docker/sluice');
  for (const path of copied) {
    await access(join(top, path));
    expect(taken).toContain(path.split('/')[0]);
  }
});

test('image: .dockerignore keeps secrets and tests out', async () => {
  const lines = (await read('.dockerignore')).split('\n');
  expect(lines).toContain('*');
  expect(lines).toContain('deploy/compose/secrets');
  expect(lines).toContain('deploy/compose/credentials.json');
  expect(lines).toContain('**/*.test.ts');
});

test('image: the HTTP engine has a build for the image’s version of Node, on both architectures', async () => {
  const image = (await instructions()).find((line) => line.startsWith('ARG NODE_IMAGE='));
  const node = /node:(\d+)-trixie-slim/.exec(image ?? '')?.[1];
  const lock = JSON.parse(await read('package-lock.json')) as { packages: Record<string, Locked> };
  const engine = lock.packages['node_modules/uWebSockets.js'];
  for (const architecture of ['x64', 'arm64']) {
    expect(engine?.optionalDependencies).toHaveProperty(`@uwsjs/linux-${architecture}-${node}`);
  }
});

test('image: the image and the chart name the version in package.json', async () => {
  const { version } = JSON.parse(await read('package.json')) as { version: string };
  expect(await instructions()).toContain(`ARG VERSION=${version}`);
  expect(await read('deploy/helm/sluice/Chart.yaml')).toContain(`appVersion: ${version}\n`);
});

test('image: contains production dependencies only, and the programs that it runs import no other packages', async () => {
  expect(await instructions()).toContain('RUN npm ci --omit=dev --no-audit --no-fund');
  const { dependencies } = JSON.parse(await read('package.json')) as { dependencies: Record<string, string> };
  const entries = [...(await read('deploy/docker/sluice')).matchAll(/entry=(\S+)/g)].flatMap(([, entry = '']) =>
    entry.startsWith('$name')
      ? ['gateway/main', 'pipeline/main', 'control-plane/main', 'shared/runtime/print-heap-option']
      : [entry],
  );
  const { files, packages } = await readImports(entries.map((entry) => `${entry}.ts`));
  expect(files).toContain('pipeline/threads/host.ts');
  expect(packages.size).toBeGreaterThan(10);
  for (const name of packages) expect(dependencies).toHaveProperty([name]);
});

test('image: runs under a numeric user id that is not root, and exposes the default ports', async () => {
  const lines = await instructions();
  expect(lines).toContain('USER 1000:1000');
  expect(lines).toContain('EXPOSE 8080 8081 9080 9081 9082');
  expect(lines).toContain('STOPSIGNAL SIGTERM');
});

test('image: npm run finds nothing to build where the sources are missing, and leaves nothing there', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-installed-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { scripts } = JSON.parse(await read('package.json')) as { scripts: { build: string } };
  await run('/bin/sh', ['-c', scripts.build], { cwd: folder });
  expect(await readdir(folder)).toEqual([]);
});

type Locked = { readonly optionalDependencies?: Record<string, string> };

describe('sluice', () => {
  const script = join(import.meta.dirname, 'sluice');
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-entry-'));
    await writeFile(
      join(folder, 'node'),
      '#!/bin/sh\ncase $1 in */print-heap-option.js) echo "$HEAP_OPTION" ;; *) printf "%s\\n" "$@" ;; esac\n',
    );
    await chmod(join(folder, 'node'), 0o755);
  });
  afterAll(() => rm(folder, { recursive: true }));

  const sluiceWith = async (heapOption: string, ...words: string[]): Promise<string[]> => {
    const env = { PATH: `${folder}:${process.env['PATH']}`, HEAP_OPTION: heapOption };
    const { stdout } = await run('/bin/sh', [script, ...words], { env });
    return stdout.trimEnd().split('\n');
  };
  const sluice = (...words: string[]): Promise<string[]> => sluiceWith('', ...words);

  test.each([
    'gateway',
    'pipeline',
    'control-plane',
    'sink',
    'migrate',
    'reseal',
    'keys',
    'sign-in-link',
    'visitors',
    'doctor',
    'dead-letters',
    'upgrade-check',
    'healthcheck',
  ])('%s runs a file that the build makes, and passes its arguments on', async (name) => {
    const [file = '', ...words] = await sluice(name, 'one word', 'another');
    expect(words).toEqual(['one word', 'another']);
    const built = file.slice(join(dirname(script), 'dist').length);
    await access(join(top, built.replace(/\.js$/, '.ts')));
  });

  test('a service gets a default limit for its heap, and a command gets none', async () => {
    const option = '--max-old-space-size=300';
    for (const name of ['gateway', 'pipeline', 'control-plane']) {
      expect((await sluiceWith(option, name, 'word')).filter((word) => !word.endsWith('.js'))).toEqual([
        option,
        'word',
      ]);
    }
    expect(await sluiceWith(option, 'doctor')).not.toContain(option);
  });

  test('any other command is refused, with a list of the commands', async () => {
    await expect(sluice('gatewya')).rejects.toMatchObject({
      code: 64,
      stderr: expect.stringContaining('control-plane'),
    });
    await expect(sluice()).rejects.toMatchObject({ code: 64 });
  });
});

describe('healthcheck', () => {
  const env = readHealthcheckEnv({ PIPELINE_METRICS_PORT: '19082' });

  test.each([
    ['node\0/app/dist/gateway/main.js\0', 'http://127.0.0.1:9080/livez'],
    ['node\0/app/dist/pipeline/main.js\0', 'http://127.0.0.1:19082/livez'],
    ['/sbin/docker-init\0--\0/app/sluice\0control-plane\0', 'http://127.0.0.1:9081/livez'],
    ['node\0/app/dist/deploy/local/sink/main.js\0', 'http://127.0.0.1:8090/livez'],
    ['node\0/app/dist/control-plane/migrate.js\0', undefined],
    ['node\0/app/dist/control-plane/keys-cli.js\0create\0--name\0gateway\0', undefined],
  ])('the container of %j is checked at %s', (commandLine, url) => {
    expect(healthUrl(commandLine, 'livez', env)).toBe(url);
  });
});
