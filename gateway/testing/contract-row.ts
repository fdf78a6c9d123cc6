import { testSources } from './test-sources.ts';

/** One line of the contract: a request and its answer. */
export type ContractRow = {
  readonly name: string;
  /** Path below `/api/v1`; default: `track`. */
  readonly path?: string;
  /** A function is called when the request is sent, so that times in the body are current. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  /** What the answer's `error` must mention. */
  readonly error?: RegExp;
};

export const { token } = testSources.server;

/** A valid track body, with these fields added or replaced. */
export const track = (fields: object): object => ({ token, event: 'Viewed', ...fields });

/** A valid identify body, with these fields added or replaced. */
export const identify = (fields: object): object => ({ token, userProperties: {}, ...fields });

/** A text of this many characters. */
export const text = (characters: number): string => 'x'.repeat(characters);

/** JSON of nested arrays. */
export const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

/** JSON of objects and arrays that alternate, `levels` deep; the outermost is an object. */
export const nestedMixed = (levels: number): string =>
  Array.from({ length: levels }, (_, level) => (level % 2 === 0 ? '{"a":' : '[')).join('') +
  '1' +
  Array.from({ length: levels }, (_, level) => ((levels - level) % 2 === 1 ? '}' : ']')).join('');
