import { createHash } from 'node:crypto';

/** What only this event, and only this person, says of itself: properties by name. */
export type Marks = { readonly event: Properties; readonly person: Properties };
type Properties = Readonly<Record<string, string>>;

/** Digests of what a delivered body should say; of nothing, the empty text. */
export type ExpectedMarks = {
  readonly event: string;
  readonly person: string;
  /** Whether the event itself said it of the person: then it has to come with it. */
  readonly saysPerson: boolean;
};

export const noMarks: ExpectedMarks = { event: '', person: '', saysPerson: false };

const prefix = 'own_';
const names = ['a', 'b', 'c', 'd'];
/** Long enough that a profile which is cut short is seen. */
const textRepeats = 64;

/** The same for the same seed, visitor and number; in no two the same. */
export function marksOf(seed: number, visitor: number, number: number): Marks {
  const of = (...parts: readonly (number | string)[]): Properties =>
    Object.fromEntries(names.map((name) => [`${prefix}${name}`, hash([...parts, name].join('/'))]));
  const person = of(seed, visitor);
  const text = hash(`${seed}/${visitor}/text`).repeat(textRepeats);
  return { event: of(seed, visitor, number), person: { ...person, [`${prefix}text`]: text } };
}

/** Of the marks among properties, whatever else is there; empty where there is none. */
export function digestOf(properties: unknown): string {
  const marks = Object.entries(properties ?? {}).filter(([name]) => name.startsWith(prefix));
  if (marks.length === 0) return '';
  return hash(JSON.stringify(marks.toSorted(([one], [other]) => (one < other ? -1 : 1))));
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
