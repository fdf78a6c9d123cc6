import { createHash } from 'node:crypto';

/** Properties that only this event, or only this person, carries. */
export type Marks = { readonly event: Properties; readonly person: Properties };
type Properties = Readonly<Record<string, string>>;

/** Digests of the marks that a delivered body should have; empty text for none. */
export type ExpectedMarks = {
  readonly event: string;
  readonly person: string;
  /** Whether the event itself carries the person's marks: then the delivery must carry them too. */
  readonly saysPerson: boolean;
};

export const noMarks: ExpectedMarks = { event: '', person: '', saysPerson: false };

const prefix = 'own_';
const names = ['a', 'b', 'c', 'd'];
/** Long enough to detect a truncated profile. */
const textRepeats = 64;

/** Deterministic for seed, visitor and number; unique for each. */
export function marksOf(seed: number, visitor: number, number: number): Marks {
  const of = (...parts: readonly (number | string)[]): Properties =>
    Object.fromEntries(names.map((name) => [`${prefix}${name}`, hash([...parts, name].join('/'))]));
  const person = of(seed, visitor);
  const text = hash(`${seed}/${visitor}/text`).repeat(textRepeats);
  return { event: of(seed, visitor, number), person: { ...person, [`${prefix}text`]: text } };
}

/** The digest of the marks among properties; other properties are ignored. Empty without marks. */
export function digestOf(properties: unknown): string {
  const marks = Object.entries(properties ?? {}).filter(([name]) => name.startsWith(prefix));
  if (marks.length === 0) return '';
  return hash(JSON.stringify(marks.toSorted(([one], [other]) => (one < other ? -1 : 1))));
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
