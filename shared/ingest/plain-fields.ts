import { textCharactersMax } from './payload-fields.ts';
import { standsAt } from './plain-scalar.ts';

/** The fields whose texts are read, and their places. */
export const textField = { token: 0, event: 1, userId: 2, externalId: 3, email: 4, distinctId: 5 } as const;
export type TextField = (typeof textField)[keyof typeof textField];
export const textFieldCount = Object.keys(textField).length;

/** A field of an event with a rule of its own. */
export type PlainField = {
  readonly name: Uint8Array;
  /** Below 32; that of a text is its place. */
  readonly index: number;
  /** What it may hold beside null. Of what has rules for its own fields only null is plain. */
  readonly takes: 'text' | 'object' | 'time' | 'nothing';
  readonly nullable: boolean;
  /** A text of no more bytes has no more characters either. */
  readonly bytesMax: number;
};

const notNull: readonly string[] = ['token', 'event', 'distinctId'];
const objects = ['properties', 'eventProperties', 'custom_properties', 'defaultProperties'];
const structured = ['userProperties', 'identityContext'];

const field = (name: string, index: number, takes: PlainField['takes'], bytesMax = 0): PlainField => ({
  name: Buffer.from(name),
  index,
  takes,
  nullable: !notNull.includes(name),
  bytesMax,
});

const fields: readonly PlainField[] = [
  ...(Object.keys(textField) as (keyof typeof textField)[]).map((name) =>
    field(name, textField[name], 'text', textCharactersMax[name]),
  ),
  field('time', textFieldCount, 'time'),
  ...objects.map((name, index) => field(name, textFieldCount + 1 + index, 'object')),
  ...structured.map((name, index) => field(name, textFieldCount + 1 + objects.length + index, 'nothing')),
];

const lengthMax = Math.max(...fields.map(({ name }) => name.length));
const byLength = Array.from({ length: lengthMax + 1 }, (_, length) =>
  fields.filter(({ name }) => name.length === length),
);

/** The field of this name, if it has a rule. */
export function plainField(bytes: Uint8Array, start: number, end: number): PlainField | undefined {
  const candidates = byLength[end - start];
  if (candidates === undefined) return undefined;
  for (let i = 0; i < candidates.length; i += 1) {
    const candidate = candidates[i];
    if (candidate !== undefined && standsAt(bytes, start, candidate.name)) return candidate;
  }
  return undefined;
}

const proto = Buffer.from('__proto__');
const constructorKey = Buffer.from('constructor');

/** Whether a key could reach a prototype. */
export function isPrototypeKey(bytes: Uint8Array, start: number, end: number): boolean {
  const length = end - start;
  if (length === proto.length) return standsAt(bytes, start, proto);
  return length === constructorKey.length && standsAt(bytes, start, constructorKey);
}
