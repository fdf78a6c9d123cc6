import type { Hit } from './compile-tracking-plan.ts';

const charactersMax = 200;
const placesMax = 3;
const nameCharactersMax = 64;
const letterRunMax = 8;

/**
 * The shape of the values that broke a rule, without their content: `event_properties.ssn: 999-99-9999`. Letters become
 * `a` and `A`, digits `9`. Empty for a rule about the event as a whole.
 */
export function describeHit({ property, places }: Hit): string {
  if (places.length === 0) return property === undefined ? '' : `${cut(property, nameCharactersMax)} is missing`;
  const shown = places.slice(0, placesMax).map(({ name, value }) => {
    const path = property ?? `event_properties.${name}`;
    return `${cut(path, nameCharactersMax)}: ${maskValue(value)}`;
  });
  const more = places.length > placesMax ? [`${places.length - placesMax} more`] : [];
  return cut([...new Set(shown), ...more].join(', '), charactersMax);
}

/** The shape of a value, without its content. */
export function maskValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value === '' ? 'an empty text' : maskText(value);
    case 'number':
      return maskText(String(value));
    case 'boolean':
      return 'true or false';
    case 'object':
      if (value === null) return 'null';
      if (Array.isArray(value)) return `a list of ${value.length}`;
      return 'an object';
    default:
      return 'nothing';
  }
}

const shapeCharactersMax = 40;

function maskText(text: string): string {
  const shape = cut(text, shapeCharactersMax)
    .replaceAll(/\p{Lu}/gu, 'A')
    .replaceAll(/[\p{L}\p{M}]/gu, (letter) => (letter === 'A' ? 'A' : 'a'))
    .replaceAll(/\p{N}/gu, '9')
    .replaceAll(/[^\x20-\x7e…]/gu, '?');
  return shape.replaceAll(/[aA]{9,}/g, (run) => `${run.slice(0, letterRunMax)}…`);
}

const cut = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max - 1)}…` : text);
