import { expect, test } from 'vitest';

import { pickDebianMirror, renderAptConfig } from './debian-package.ts';

test('debian mirror: the one that says it is Debian wins over third parties', () => {
  const targets = [
    'https://download.example/linux/debian/ bookworm main Example',
    'http://security.example/debian-security/ bookworm-security main Debian',
    'http://mirror.example/debian/ bookworm main Debian',
    'http://mirror.example/debian/ bookworm-updates main Debian',
  ].join('\n');
  expect(pickDebianMirror(targets)).toBe('http://mirror.example/debian/');
});

test('debian mirror: before the first update, when no origin is known, the release decides', () => {
  const targets = [
    'https://node.example/ nodistro main ',
    'cdrom:[Debian]/ bookworm main ',
    'http://m.example/debian/ stable main ',
  ];
  expect(pickDebianMirror(targets.join('\n'))).toBe('http://m.example/debian/');
});

test('debian mirror: there is none among the sources of another system', () => {
  expect(pickDebianMirror('http://archive.example/ubuntu/ noble main Ubuntu\n')).toBeUndefined();
  expect(pickDebianMirror('')).toBeUndefined();
});

test('apt config: keeps to its own folders, and only root leaves the sandbox account', () => {
  const config = renderAptConfig('/some/where', false);
  expect(config).toContain('Dir::State "/some/where/state";');
  expect(config).toContain('Dir::Cache "/some/where/cache";');
  expect(config).not.toContain('Sandbox');
  expect(renderAptConfig('/some/where', true)).toContain('APT::Sandbox::User "root";');
});
