import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { environmentPage } from '../../deploy/repo/environment/environment-page.ts';
import { metricsTable } from '../../deploy/prometheus/metrics-table.ts';
import { topFolder } from '../../shared/runtime/compiled-path.ts';
import { drawFaults } from './chaos/draw-faults.ts';
import { defineFault, obstacleTo } from './families/fault.ts';
import type { Means } from './families/fault.ts';
import { faults } from './registry.ts';
import { createRandom } from './visitors.ts';

const read = (path: string): Promise<string> => readFile(new URL(path, topFolder), 'utf8');

test('faults: names are unique, in kebab case, and differ from the words “all” and “chaos” of the command line', () => {
  const names = faults.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^[a-z]+(-[a-z]+)*$/);
  expect(names).not.toContain('all');
  expect(names).not.toContain('chaos');
});

test('faults: the texts about what an operator sees and does are whole sentences', () => {
  const texts = faults.flatMap(({ sees, does }) => [sees, does]);
  expect(texts.filter((text) => !/^[`*]?\p{L}[\s\S]*[.)]$/u.test(text))).toEqual([]);
});

test('faults: descriptions name only alerts, metrics and settings that exist', async () => {
  const known = [await read('deploy/runbook/alerts.md'), metricsTable(), environmentPage()].join('\n');
  const elsewhere = /^(ERR_|LOG_$|NODE_EXTRA_CA_CERTS$|EAI_AGAIN$|CERT_HAS_EXPIRED$)/;
  const named = faults.flatMap(
    ({ sees, does }) => `${sees} ${does}`.match(/\bSluice[A-Z]\w+|\bsluice_\w+|\b[A-Z]+(?:_[A-Z]*)+\b/g) ?? [],
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((word) => !elsewhere.test(word) && !known.includes(word))).toEqual([]);
});

test('faults: a fault is skipped with a reason if something that it needs is missing', () => {
  const all: Means = { uid: 0, hasProgram: () => true, previous: 'there' };
  const definition = { name: 'one', about: '', sees: '', does: '', harms: [], run: () => Promise.resolve() };
  const fault = defineFault({ ...definition, needs: { root: true, programs: ['strace'], previous: true } });
  expect(obstacleTo(fault, all)).toBeUndefined();
  expect(obstacleTo(fault, { ...all, uid: 1_000 })).toContain('root');
  expect(obstacleTo(fault, { ...all, hasProgram: () => false })).toContain('strace');
  expect(obstacleTo(fault, { ...all, previous: undefined })).toContain('--previous');
  expect(obstacleTo(defineFault(definition), { uid: 1, hasProgram: () => false, previous: undefined })).toBeUndefined();
});

test('chaos: the same seed draws the same faults, and over many seeds every fault that may be drawn is drawn', () => {
  const draw = (seed: number) => drawFaults(faults, 600_000, createRandom(seed));
  const spelled = (seed: number): string =>
    JSON.stringify(draw(seed).drawn.map(({ fault, ...rest }) => [fault.name, rest]));
  expect(spelled(5)).toBe(spelled(5));
  expect(spelled(5)).not.toBe(spelled(6));
  const drawn = new Set(
    Array.from({ length: 40 }, (_, seed) => draw(seed)).flatMap((one) => one.drawn.map(({ fault }) => fault)),
  );
  const never = faults.filter((fault) => !drawn.has(fault)).map(({ name }) => name);
  expect(never).toEqual([
    'nothing',
    'postgres-failed-over',
    'pipeline-killed-slow',
    'pipeline-terminated-slow',
    'disk-full',
    'disk-full-restart',
    'disk-read-only',
    'power-cut',
    'log-cut',
    'log-torn',
    'secrets-key-rotated',
    'upgraded-and-back',
  ]);
});

test('chaos: faults that destroy events, or need a disk of their own or more nodes than there are, are not drawn', () => {
  for (let seed = 0; seed < 40; seed += 1) {
    const { shape, drawn } = drawFaults(faults, 600_000, createRandom(seed));
    for (const { fault, choice } of drawn) {
      expect([fault.disk, fault.destroys]).toEqual([undefined, undefined]);
      expect(fault.shape.nodes).toBeLessThanOrEqual(shape.nodes);
      expect(choice).toBeLessThan(1);
    }
  }
});
