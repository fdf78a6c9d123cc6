import type { PlannedProperty } from '../rules/rule.ts';

type Values = NonNullable<PlannedProperty['allowedValues']>;
type Type = PlannedProperty['type'];

/** A JSON string that is followed by a comma or the end, or any text up to a comma. */
const word = /\s*("(?:[^"\\]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")\s*(?:,|$)|([^,]*)(?:,|$)/y;

/**
 * Reads comma-separated text as values of a type; null if empty. A word in double quotes is a JSON string, which may
 * contain commas. Words that are not of the type stay text, which the API rejects. For `any` and `array`, a word is a
 * number or a boolean only if `stored` has that value.
 */
export function readAllowedValues(text: string, type: Type, stored: Values | null = null): Values | null {
  const values: Values[number][] = [];
  word.lastIndex = 0;
  while (word.lastIndex < text.length) {
    const [, quoted, plain = ''] = word.exec(text) ?? [];
    if (quoted !== undefined) values.push(unquote(quoted));
    else if (plain.trim() !== '') values.push(valueOf(plain.trim(), type, stored ?? []));
  }
  return values.length === 0 ? null : [...new Set(values)];
}

/** The text of a JSON string. Control characters, such as a pasted tab, count as text. */
function unquote(quoted: string): string {
  return JSON.parse(quoted.replace(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1))) as string;
}

function valueOf(text: string, type: Type, stored: Values): Values[number] {
  if (type === 'number' && Number.isFinite(Number(text))) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  if (type !== 'any' && type !== 'array') return text;
  return stored.find((value) => typeof value !== 'string' && String(value) === text) ?? text;
}

/** Writes values as text that `readAllowedValues` reads as the same values, if they are stored. */
export function writeAllowedValues(values: Values | null | undefined, type: Type): string {
  const written = (value: Values[number]): string => {
    const text = String(value);
    if (typeof value !== 'string') return text;
    const read = readAllowedValues(text, type, values);
    // A text field drops line breaks. After a quote, a later value might end the word.
    return read?.length === 1 && read[0] === value && !/^"|[\r\n]/.test(value) ? text : JSON.stringify(value);
  };
  return (values ?? []).map(written).join(', ');
}
