import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { murmur3 } from '../runtime/murmur3.ts';
import { allocationBucket, bucketsOfPercent, rangeVariants, variantAt, variantBucket } from './bucketing.ts';
import type { Weighted } from './bucketing.ts';

type Experiment = { readonly id: string; readonly trafficAllocation: number; readonly variants: readonly Weighted[] };

const page = readFileSync(new URL('BUCKETING.md', import.meta.url), 'utf8');
const experiments = JSON.parse(fenced('json')) as Readonly<Record<string, Experiment>>;
const vectors = tableRows();
const published = runInNewContext(`${fenced('js')}; ({ hash, assign })`, { TextEncoder }) as {
  hash(text: string): number;
  assign(experiment: Experiment, visitorId: string): string | null;
};

test('BUCKETING.md: holds vectors for every experiment it shows, inside and outside', () => {
  expect(new Set(vectors.map(({ name }) => name))).toEqual(new Set(Object.keys(experiments)));
  expect(vectors.filter(({ variant }) => variant === 'none').length).toBeGreaterThan(2);
  expect(vectors.length).toBeGreaterThan(30);
});

test.each(vectors)('BUCKETING.md: $name / $visitorId comes to the published $variant', (vector) => {
  const { id, trafficAllocation, variants } = vector.experiment;
  const inside = allocationBucket(id, vector.visitorId) < bucketsOfPercent(trafficAllocation);
  const variant = variantAt(rangeVariants(variants), variantBucket(id, vector.visitorId));
  expect({
    allocationHash: murmur3(`${id}:allocation:${vector.visitorId}`),
    allocationBucket: allocationBucket(id, vector.visitorId),
    variantHash: murmur3(`${id}:variant:${vector.visitorId}`),
    variantBucket: variantBucket(id, vector.visitorId),
    variant: inside ? variant?.id : 'none',
  }).toEqual(vector.expected);
});

test.each(vectors)('BUCKETING.md: its JavaScript comes to $variant for $name / $visitorId', (vector) => {
  const { experiment, visitorId, expected } = vector;
  expect(published.hash(`${experiment.id}:allocation:${visitorId}`)).toBe(expected.allocationHash);
  expect(published.hash(`${experiment.id}:variant:${visitorId}`)).toBe(expected.variantHash);
  expect(published.assign(experiment, visitorId) ?? 'none').toBe(expected.variant);
});

function fenced(language: string): string {
  const block = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(page)?.[1];
  if (block === undefined) throw new Error(`BUCKETING.md has no block of ${language}`);
  return block;
}

function tableRows() {
  const rows = page.split('\n').filter((line) => line.startsWith('|'));
  // The first two rows are the table's head.
  return rows.slice(2).map((row) => {
    const [name = '', visitorId = '', ...cells] = row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    const [allocationHash, allocationBucket, variantHash, variantBucket] = cells.slice(0, 4).map(Number);
    const variant = cells[4] ?? '';
    const experiment = experiments[name];
    if (experiment === undefined) throw new Error(`BUCKETING.md shows no experiment ${name}`);
    const expected = { allocationHash, allocationBucket, variantHash, variantBucket, variant };
    return { name, visitorId, experiment, variant, expected };
  });
}
