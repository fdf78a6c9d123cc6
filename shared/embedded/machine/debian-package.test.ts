import { expect, test } from 'vitest';

import { pickDebianMirror, renderAptConfig } from './debian-package.ts';

test('debian mirror: a source whose origin is Debian is preferred to third parties', () => {
  const targets = [
    'https://download.example/linux/debian/ bookworm main Example',
    'http://security.example/debian-security/ bookworm-security main Debian',
    'http://mirror.example/debian/ bookworm main Debian',
    'http://mirror.example/debian/ bookworm-updates main Debian',
  ].join('\n');
  expect(pickDebianMirror(targets)).toBe('http://mirror.example/debian/');
});

test('debian mirror: before the first update, when no origin is known, the release name decides', () => {
  const targets = [
    'https://node.example/ nodistro main ',
    'cdrom:[Debian]/ bookworm main ',
    'http://m.example/debian/ stable main ',
  ];
  expect(pickDebianMirror(targets.join('\n'))).toBe('http://m.example/debian/');
});

test('debian mirror: is undefined if all sources belong to another system', () => {
  expect(pickDebianMirror('http://archive.example/ubuntu/ noble main Ubuntu\n')).toBeUndefined();
  expect(pickDebianMirror('')).toBeUndefined();
});

test('apt config: uses its own folders, and drops the sandbox account only for root', () => {
  const config = renderAptConfig('/some/where', false);
  expect(config).toContain('Dir::State "/some/where/state";');
  expect(config).toContain('Dir::Cache "/some/where/cache";');
  expect(config).not.toContain('Sandbox');
  expect(renderAptConfig('/some/where', true)).toContain('APT::Sandbox::User "root";');
});
