import type { PlannedProperty } from '../rules/rule.ts';

type Values = NonNullable<PlannedProperty['allowedValues']>;

/** Reads comma-separated text as values of a type; null if empty. Other values stay text, which the API rejects. */
export function readAllowedValues(text: string, type: PlannedProperty['type']): Values | null {
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  const values = words.map((word) => valueOf(word, type));
  return values.length === 0 ? null : [...new Set(values)];
}

function valueOf(word: string, type: PlannedProperty['type']): Values[number] {
  if (type === 'number' && Number.isFinite(Number(word))) return Number(word);
  if (type === 'boolean' && (word === 'true' || word === 'false')) return word === 'true';
  return word;
}

export const writeAllowedValues = (values: Values | null | undefined): string => (values ?? []).map(String).join(', ');
