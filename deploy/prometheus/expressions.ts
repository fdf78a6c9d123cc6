import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { metricsByService } from './metrics-table.ts';

export type Rule = {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
};

/** The rules of a file in `rules/`. */
export async function readRules(file: string): Promise<readonly Rule[]> {
  const text = await readFile(join(import.meta.dirname, 'rules', file), 'utf8');
  const { groups } = parse(text) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

/** Metrics in an expression that exist neither in a service nor as a recording rule. */
export function unknownMetrics(expr: string, recorded: ReadonlySet<string>): string[] {
  const known = new Map(
    Object.values(metricsByService)
      .flat()
      .map((metric) => [metric.name, metric]),
  );
  const named = expr.match(/(?:[a-z_]+:)?sluice[a-zA-Z0-9_:]*/g) ?? [];
  return named.filter((name) => {
    if (recorded.has(name) || known.has(name)) return false;
    return known.get(name.replace(/_(bucket|sum|count)$/, ''))?.kind !== 'histogram';
  });
}
