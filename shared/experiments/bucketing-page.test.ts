import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { murmur3 } from '../runtime/murmur3.ts';
import { allocationBucket, bucketsOfPercent, rangeVariants, variantAt, variantBucket } from './bucketing.ts';
import type { Weighted } from './bucketing.ts';

type Experiment = { readonly id: string; readonly trafficAllocation: number; readonly variants: readonly Weighted[] };

/** One of the published vectors; hashes are hexadecimal. */
type Vector = {
  readonly experiment: string;
  readonly visitorId: string;
  readonly allocationHash: string;
  readonly allocationBucket: number;
  readonly variantHash: string;
  readonly variantBucket: number;
  /** Null if the visitor does not take part. */
  readonly variant: string | null;
};

const page = readFileSync(new URL('BUCKETING.md', import.meta.url), 'utf8');
const file = JSON.parse(readFileSync(new URL('bucketing-vectors.json', import.meta.url), 'utf8')) as {
  readonly experiments: Readonly<Record<string, Experiment>>;
  readonly vectors: readonly Vector[];
};
const vectors = file.vectors.map(readVector);
const published = runInNewContext(`${fenced('js')}; ({ hash, assign })`, { TextEncoder }) as {
  hash(text: string): number;
  assign(experiment: Experiment, visitorId: string): string | null;
};

test('bucketing vectors: cover every experiment listed, with visitors inside and outside', () => {
  expect(new Set(vectors.map(({ name }) => name))).toEqual(new Set(Object.keys(file.experiments)));
  expect(vectors.filter(({ variant }) => variant === 'none').length).toBeGreaterThan(2);
  expect(vectors.length).toBeGreaterThan(30);
});

test.each(vectors)('bucketing vectors: $name / $visitorId gets the published $variant', (vector) => {
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

test.each(vectors)('BUCKETING.md: its JavaScript gives $variant to $name / $visitorId', (vector) => {
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

function readVector({ experiment: name, visitorId, allocationHash, variantHash, variant, ...buckets }: Vector) {
  const experiment = file.experiments[name];
  if (experiment === undefined) throw new Error(`the vectors have no experiment ${name}`);
  const shown = variant ?? 'none';
  const hashes = { allocationHash: Number(allocationHash), variantHash: Number(variantHash) };
  return { name, visitorId, experiment, variant: shown, expected: { ...buckets, ...hashes, variant: shown } };
}
