import fc from 'fast-check';
import { payloadFieldRows } from '../../ingest/payload-fields.ts';

// Texts that clients may send: usual JSON, unusual JSON, and invalid JSON.

const space = fc.constantFrom('', '', '', ' ', '\t ');
const usualText = fc.stringMatching(/^[a-z ]{0,12}$/).map((text) => `"${text}"`);
const oddText = fc
  .array(
    fc.constantFrom(
      'a',
      'é',
      '😀',
      '{',
      '}',
      ',',
      ':',
      '\\"',
      '\\n',
      '\\/',
      '\\u00e9',
      '\\ud800',
      '\\x',
      '\u007f',
      '\u0001',
    ),
    {
      maxLength: 4,
    },
  )
  .map((parts) => `"${parts.join('')}"`);
const usualNumber = fc
  .oneof(
    fc.integer(),
    fc.integer().map((cents) => cents / 100),
  )
  .map((value) => JSON.stringify(value));
const oddNumber = fc.constantFrom(
  '1.50',
  '-0',
  '0',
  '1e5',
  '1E400',
  '12345678901234567890',
  '01',
  '-',
  '1.',
  '.5',
  '+1',
  '1'.repeat(400),
);
const word = fc.constantFrom('true', 'false', 'null', 'nul', 'undefined');
const key = fc.constantFrom(
  'a',
  'b',
  'c',
  'ip',
  'user_agent',
  'sender',
  'event',
  '__proto__',
  'constructor',
  'é',
  '\\u0061',
  '',
);

function objectText(members: readonly (readonly [string, string])[], space: string): string {
  const texts = members.map(([name, value]) => `"${name}"${space}:${space}${value}`);
  return `{${space}${texts.join(`${space},${space}`)}${space}}`;
}

const { value } = fc.letrec<{ value: string; leaf: string; object: string; array: string }>((tie) => ({
  leaf: fc.oneof({ weight: 8, arbitrary: usualText }, { weight: 12, arbitrary: usualNumber }, oddText, oddNumber, word),
  object: fc
    .tuple(fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }), space)
    .map(([members, space]) => objectText(members, space)),
  array: fc
    .tuple(fc.array(tie('value'), { maxLength: 3 }), space)
    .map(([values, space]) => `[${space}${values.join(`${space},${space}`)}${space}]`),
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    { weight: 6, arbitrary: tie('leaf') },
    tie('object'),
    tie('array'),
  ),
}));

/** The text of any JSON value, or a text that is nearly JSON. */
export const jsonText: fc.Arbitrary<string> = value;

const usualObject = fc
  .tuple(fc.dictionary(fc.stringMatching(/^[a-z_]{1,8}$/), fc.oneof(usualText, usualNumber), { maxKeys: 5 }), space)
  .map(([members, space]) => objectText(Object.entries(members), space));
const objectValue = fc.oneof({ weight: 12, arbitrary: usualObject }, value);

const usualMembers = fc.record(
  {
    token: fc.constant('""'),
    event: fc.oneof({ weight: 20, arbitrary: usualText }, value),
    time: fc.oneof({ weight: 12, arbitrary: usualNumber }, value),
    externalId: fc.oneof({ weight: 12, arbitrary: usualText }, value),
    email: fc.oneof({ weight: 12, arbitrary: usualText }, value),
    userId: fc.oneof({ weight: 12, arbitrary: usualText }, value),
    properties: objectValue,
    defaultProperties: objectValue,
  },
  { requiredKeys: ['event'] },
);
const rareMember = fc.option(
  fc.tuple(
    fc.constantFrom(...payloadFieldRows.filter(({ track }) => track !== undefined).map(({ name }) => name), 'other'),
    objectValue,
  ),
  { nil: undefined, freq: 4 },
);

/** The body of a track, or a text that is nearly one. */
export const bodyText: fc.Arbitrary<string> = fc
  .tuple(usualMembers, rareMember, space)
  .map(([members, rare, space]) => {
    const all = Object.entries(members).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return objectText(rare === undefined ? all : [...all, rare], space);
  });
