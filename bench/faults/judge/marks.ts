import { createHash } from 'node:crypto';

/** Properties by which a delivery is recognised as belonging to one event and to one person. */
export type Marks = { readonly event: Properties; readonly person: Properties };
type Properties = Readonly<Record<string, string>>;

/** Digests of the marks that a delivered body should have; empty for an event or a person without marks. */
export type ExpectedMarks = {
  readonly event: string;
  readonly person: string;
  /** Whether the event itself carries the person's marks, in which case its delivery must carry them too. */
  readonly saysPerson: boolean;
};

export const noMarks: ExpectedMarks = { event: '', person: '', saysPerson: false };

const prefix = 'own_';
const names = ['a', 'b', 'c', 'd'];
/** Long enough to detect a truncated profile. */
const textRepeats = 64;

/** The marks of an event and its visitor: deterministic, and different for each seed, visitor and event number. */
export function marksOf(seed: number, visitor: number, number: number): Marks {
  const of = (...parts: readonly (number | string)[]): Properties =>
    Object.fromEntries(names.map((name) => [`${prefix}${name}`, hash([...parts, name].join('/'))]));
  const person = of(seed, visitor);
  const text = hash(`${seed}/${visitor}/text`).repeat(textRepeats);
  return { event: of(seed, visitor, number), person: { ...person, [`${prefix}text`]: text } };
}

/** Digest of the marks among properties, ignoring other properties; empty if there are no marks. */
export function digestOf(properties: unknown): string {
  const marks = Object.entries(properties ?? {}).filter(([name]) => name.startsWith(prefix));
  if (marks.length === 0) return '';
  return hash(JSON.stringify(marks.toSorted(([one], [other]) => (one < other ? -1 : 1))));
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
