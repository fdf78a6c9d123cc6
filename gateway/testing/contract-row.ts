import { testSources } from './test-sources.ts';

/** One line of the contract: a request and what answers it. */
export type ContractRow = {
  readonly name: string;
  /** Below /api/v1. Default track. */
  readonly path?: string;
  /** A function makes it when it is sent: what it says of the time is true then. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  /** What the answer's `error` must mention. */
  readonly error?: RegExp;
};

export const { token } = testSources.server;

/** A track body that is fine, with these fields over it. */
export const track = (fields: object): object => ({ token, event: 'Viewed', ...fields });

/** An identify body that is fine, with these fields over it. */
export const identify = (fields: object): object => ({ token, userProperties: {}, ...fields });

/** A text of this many characters. */
export const text = (characters: number): string => 'x'.repeat(characters);

/** JSON of arrays in arrays. */
export const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

/** JSON of arrays in objects and objects in arrays: an object outside, and so many levels of both. */
export const nestedMixed = (levels: number): string =>
  Array.from({ length: levels }, (_, level) => (level % 2 === 0 ? '{"a":' : '[')).join('') +
  '1' +
  Array.from({ length: levels }, (_, level) => ((levels - level) % 2 === 1 ? '}' : ']')).join('');
