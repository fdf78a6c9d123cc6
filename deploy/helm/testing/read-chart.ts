import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';

export type Values = Readonly<Record<string, unknown>>;

/** The parts of the chart that tests read. */
export type Chart = {
  readonly values: Values;
  readonly schema: Values;
  /** Texts of the templates by path below `templates/`. */
  readonly templates: ReadonlyMap<string, string>;
};

export const chartFolder = join(import.meta.dirname, '../sluice');

export async function readChart(): Promise<Chart> {
  const read = (name: string): Promise<string> => readFile(join(chartFolder, name), 'utf8');
  const names = (await readdir(join(chartFolder, 'templates'), { recursive: true })).filter((name) =>
    name.includes('.'),
  );
  const templates = names.map(async (name): Promise<[string, string]> => [name, await read(`templates/${name}`)]);
  return {
    values: parse(await read('values.yaml')) as Values,
    schema: JSON.parse(await read('values.schema.json')) as Values,
    templates: new Map(await Promise.all(templates)),
  };
}
