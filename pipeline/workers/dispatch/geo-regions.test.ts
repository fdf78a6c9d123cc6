import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkGeoDatabase, openGeoRegions } from './geo-regions.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-geo-'));
});
afterAll(() => rm(folder, { recursive: true }));

type Value = string | number | readonly Value[] | { readonly [key: string]: Value };

const types = { text: 2, map: 7, uint16: 5, uint32: 6, uint64: 9, array: 11 } as const;

function control(type: number, size: number): Buffer {
  return type < 8 ? Buffer.from([(type << 5) | size]) : Buffer.from([size, type - 7]);
}

/** Encodes a value of up to 28 bytes or entries, as specified in https://maxmind.github.io/MaxMind-DB. */
function encode(value: Value, numberType: number = types.uint16): Buffer {
  if (typeof value === 'string') return Buffer.concat([control(types.text, value.length), Buffer.from(value)]);
  if (typeof value === 'number') {
    const bytes = numberType === types.uint16 ? [value >> 8, value & 255] : [0, 0, value >> 8, value & 255];
    return Buffer.concat([control(numberType, bytes.length), Buffer.from(bytes)]);
  }
  if (Array.isArray(value)) {
    return Buffer.concat([control(types.array, value.length), ...value.map((item: Value) => encode(item))]);
  }
  const entries = Object.entries(value);
  const wide: Readonly<Record<string, number>> = { node_count: types.uint32, build_epoch: types.uint64 };
  return Buffer.concat([
    control(types.map, entries.length),
    ...entries.flatMap(([key, item]) => [encode(key), encode(item, wide[key])]),
  ]);
}

/** A database of two networks: 0.0.0.0/1 and 128.0.0.0/1. */
function database(low: Value, high: Value): Buffer {
  const [first, second] = [encode(low), encode(high)];
  const pointer = (offset: number): Buffer => Buffer.from([0, 0, 1 + 16 + offset]);
  const metadata = {
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1,
    database_type: 'Test-City',
    description: { en: 'test' },
    ip_version: 4,
    languages: ['en'],
    node_count: 1,
    record_size: 24,
  };
  return Buffer.concat([
    pointer(0),
    pointer(first.length),
    Buffer.alloc(16),
    first,
    second,
    Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'),
    encode(metadata),
  ]);
}

test('geo regions: an address has a country, and a state where the database has a state for it', async () => {
  const path = join(folder, 'city.mmdb');
  const california = { country: { iso_code: 'US' }, subdivisions: [{ iso_code: 'CA' }] };
  await writeFile(path, database({ country: { iso_code: 'DE' } }, california));
  await checkGeoDatabase(path);
  const regions = await openGeoRegions(path);
  expect(regions.regionOf('9.9.9.9')).toEqual({ country: 'DE', state: '' });
  expect(regions.regionOf('203.0.113.7')).toEqual({ country: 'US', state: 'CA' });
  for (const address of ['', 'nonsense', '1.2.3.4.5', '2001:db8::1']) {
    expect(regions.regionOf(address)).toEqual({ country: '', state: '' });
  }
});

test('geo regions: without a database every region is unknown, and a file that is no database is an error', async () => {
  const path = join(folder, 'broken.mmdb');
  await writeFile(path, 'no database');
  expect((await openGeoRegions(undefined)).regionOf('9.9.9.9')).toEqual({ country: '', state: '' });
  await expect(checkGeoDatabase(path)).rejects.toThrow('GEOIP_DATABASE cannot be read');
  await expect(checkGeoDatabase(join(folder, 'absent.mmdb'))).rejects.toThrow('GEOIP_DATABASE cannot be read');
});
