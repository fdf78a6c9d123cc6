import { expect, test } from 'vitest';
import { explainNoEngine } from './uws.ts';
import type { Machine } from './uws.ts';

const on = (system: string, majors: readonly number[]): string[] => majors.map((major) => `${system}-${major}`);
const packages = [
  { glibcMin: '2.38', builds: [...on('linux-x64', [22, 24, 26]), ...on('darwin-arm64', [22, 24, 26])] },
  { glibcMin: '2.27', builds: [...on('linux-x64', [18, 20, 22, 23]), ...on('darwin-arm64', [20, 22])] },
];
const here: Machine = { node: '24.21.0', platform: 'linux', arch: 'x64', glibc: '2.41' };

test.each<[string, Partial<Machine>, readonly string[], string]>([
  [
    'a Node whose builds need a newer glibc',
    { glibc: '2.36' },
    ['linux-x64-24'],
    'there is no build of the HTTP engine for Node 24.21.0 with glibc 2.36: use Node 22, or a system with glibc 2.38 or newer',
  ],
  [
    'the same, whatever node_modules hold',
    { node: '26.10.0', glibc: '2.9' },
    ['linux-x64-20'],
    'there is no build of the HTTP engine for Node 26.10.0 with glibc 2.9: use a system with glibc 2.38 or newer',
  ],
  [
    'a Node without any build',
    { node: '25.1.0' },
    [],
    'there is no build of the HTTP engine for Node 25.1.0 with glibc 2.41: use Node 24',
  ],
  [
    'a Node without any build, on an older glibc',
    { node: '21.7.3', glibc: '2.37' },
    [],
    'there is no build of the HTTP engine for Node 21.7.3 with glibc 2.37: use Node 22',
  ],
  [
    'node_modules of another Node',
    {},
    ['linux-x64-20'],
    'node_modules holds the HTTP engine for Node 20 on linux-x64 only, and this is Node 24.21.0 on linux-x64: run npm ci with this Node, on this machine',
  ],
  [
    'node_modules of another machine',
    {},
    ['darwin-arm64-24', 'darwin-arm64-22'],
    'node_modules holds the HTTP engine for Node 24 on darwin-arm64 and Node 22 on darwin-arm64 only, and this is Node 24.21.0 on linux-x64: run npm ci with this Node, on this machine',
  ],
  [
    'node_modules without optional dependencies',
    {},
    [],
    'node_modules holds no build of the HTTP engine, and this is Node 24.21.0 on linux-x64: run npm ci with this Node, on this machine',
  ],
  [
    'musl',
    { glibc: undefined },
    [],
    'there is no build of the HTTP engine for a system without glibc, such as Alpine: use a system with glibc, such as Debian, Ubuntu or an image made of them',
  ],
  [
    'an architecture without builds',
    { arch: 'riscv64' },
    [],
    'there is no build of the HTTP engine for linux-riscv64: run gateways on Linux on x64',
  ],
  [
    'another system, where no glibc is asked for',
    { platform: 'darwin', arch: 'arm64', glibc: undefined, node: '25.0.0' },
    [],
    'there is no build of the HTTP engine for Node 25.0.0 on darwin-arm64: use Node 24',
  ],
  [
    'a build that is there and does not load',
    {},
    ['linux-x64-24'],
    'the HTTP engine does not load (uWebSockets.js: file too short): run npm ci',
  ],
])('no engine: %s', (_name, machine, installed, sentence) => {
  const causes = ['uWebSockets.js: file too short'];
  const { problem, advice } = explainNoEngine({ ...here, ...machine }, packages, installed, causes);
  expect(`${problem}: ${advice}`).toBe(sentence);
});
