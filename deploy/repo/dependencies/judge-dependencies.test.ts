import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { topFolder } from '../../../shared/runtime/compiled-path.ts';
import {
  checksumProblems,
  readAudit,
  scriptProblems,
  staleExplanations,
  unexplainedAdvisories,
} from './judge-dependencies.ts';
import type { Explained, Lock } from './judge-dependencies.ts';

const read = async <Content>(path: string): Promise<Content> =>
  JSON.parse(await readFile(new URL(path, topFolder), 'utf8')) as Content;
const explained = await read<Explained>('deploy/repo/dependencies/explained.json');
const lock = await read<Lock>('package-lock.json');
const manifest = await read<{
  readonly allowScripts: Readonly<Record<string, boolean>>;
  readonly dependencies: Readonly<Record<string, string>>;
}>('package.json');

test('dependencies: every install script has an explained decision, and every package has a checksum', () => {
  expect(scriptProblems(lock, manifest.allowScripts, explained)).toEqual([]);
  expect(checksumProblems(lock, explained)).toEqual([]);
  expect(staleExplanations(lock, explained)).toEqual([]);
  const pinned = /^(?:npm:[@\w./-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/;
  expect(Object.entries(manifest.dependencies).filter(([, version]) => !pinned.test(version))).toEqual([]);
});

test('dependencies: an unexplained install script, missing checksum or advisory is a problem', () => {
  const foreign: Lock = {
    packages: {
      '': {},
      'node_modules/a': { version: '1.0.0', hasInstallScript: true },
      'node_modules/a/node_modules/b': { version: '2.0.0', integrity: 'sha512-x' },
    },
  };
  const advisory = { id: 'GHSA-1', package: 'b', version: '1.0.0', why: 'never called' };
  const known: Explained = { installScripts: { c: 'gone' }, withoutChecksum: { b: 'gone' }, advisories: [advisory] };
  expect(scriptProblems(foreign, {}, known)).toEqual([
    'a has an install script: allow or deny it in allowScripts of package.json',
    'a has an install script that is not explained',
    'c is named in allowScripts or explained, but has no install script',
  ]);
  expect(checksumProblems(foreign, known)).toEqual(['a has no checksum in package-lock.json', 'b has a checksum']);
  expect(staleExplanations(foreign, known)).toEqual(['GHSA-1: b@1.0.0 is not installed any more']);
  const via = (id: string) => ({ url: `https://github.com/advisories/${id}`, title: 'Bad', severity: 'high' });
  const report = { vulnerabilities: { b: { via: [via('GHSA-1')] }, d: { via: ['b', via('GHSA-2')] } } };
  expect(unexplainedAdvisories(report, known)).toEqual(['d: GHSA-2 (high) Bad']);
});

test('dependencies: if the registry gives no report, the result says what was not compared and does not pass', () => {
  const installed: Lock = { packages: { '': {}, 'node_modules/a': {}, 'node_modules/b': { dev: true } } };
  const none: Explained = { installScripts: {}, withoutChecksum: {}, advisories: [] };
  const refused =
    '{"message":"404 Not Found - POST http://registry.test/-/npm/v1/security/audits","error":{"summary":""}}';
  for (const stdout of [refused, '', '<html>', 'null', '{}']) {
    const { compared, lines } = readAudit({ stdout, stderr: '' }, installed, none);
    expect([stdout, compared]).toEqual([stdout, false]);
    expect(lines.join('\n')).toMatch(
      /no advisory was compared[^]*not compared: all packages that services run with \(1\)/,
    );
    expect(lines.join('\n')).not.toContain('registry.test');
  }
  expect(readAudit({ stdout: '{"vulnerabilities":{}}', stderr: '' }, installed, none)).toEqual({
    compared: true,
    lines: [],
  });
});
