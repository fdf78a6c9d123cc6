import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { EnvError, defineEnv, readEnv } from './env.ts';
import { count, flag, optionalSecret, optionalText, port, secret } from './variables.ts';

const schema = Type.Object({
  PORT: port('where it listens', 8080),
  ROWS_MAX: count('rows of a batch', 1000),
  KEY: Type.String({ minLength: 3 }),
  NAME: Type.Optional(Type.String()),
  LEVEL: Type.Enum(['low', 'high'], { default: 'low' }),
});

const files: Readonly<Record<string, string>> = { '/run/key': '  from a file \r\n\n', '/run/empty': '\n' };
const fails: Readonly<Record<string, string>> = { '/run/none': 'ENOENT', '/run/closed': 'EACCES', '/run': 'EISDIR' };
const readFile = (path: string): string => {
  const text = files[path];
  if (text === undefined) throw Object.assign(new Error('refused'), { code: fails[path] });
  return text;
};
const read = (source: Record<string, string>): unknown => readEnv(schema, source, readFile);

const problemsOf = (attempt: () => unknown): readonly string[] => {
  try {
    attempt();
    return [];
  } catch (error) {
    if (error instanceof EnvError) return error.problems;
    throw error;
  }
};

test('env: defaults are applied and numbers converted', () => {
  expect(read({ KEY: 'abc', PORT: '9000', OTHER: 'x' })).toEqual({
    PORT: 9000,
    ROWS_MAX: 1000,
    KEY: 'abc',
    LEVEL: 'low',
  });
});

test('env: an empty variable counts as absent', () => {
  expect(read({ KEY: 'abc', PORT: '', NAME: '' })).toEqual({ PORT: 8080, ROWS_MAX: 1000, KEY: 'abc', LEVEL: 'low' });
});

test('env: a secret may come from a file, without the line breaks at its end', () => {
  expect(read({ KEY_FILE: '/run/key' })).toMatchObject({ KEY: '  from a file ' });
});

test.each([
  ['/run/none', 'KEY_FILE names /run/none, which does not exist'],
  ['/run/closed', 'KEY_FILE names /run/closed, which this user may not read'],
  ['/run', 'KEY_FILE names /run, which is a folder'],
  ['/run/odd', 'KEY_FILE names /run/odd, which cannot be read'],
  ['/run/empty', 'KEY_FILE names /run/empty, which is empty'],
])('env: a problem with the file %s is the only one reported', (path, problem) => {
  expect(problemsOf(() => read({ KEY_FILE: path }))).toEqual([problem]);
});

test('env: a variable and its file at once are refused', () => {
  expect(problemsOf(() => read({ KEY: 'abc', KEY_FILE: '/run/key' }))).toEqual([
    'KEY and KEY_FILE are both set: keep one',
  ]);
});

test('env: a variable whose declared name ends in _FILE is read as a path', () => {
  const paths = Type.Object({ CERTIFICATE_FILE: Type.Optional(Type.String()) });
  expect(readEnv(paths, { CERTIFICATE_FILE: '/run/none' }, readFile)).toEqual({ CERTIFICATE_FILE: '/run/none' });
});

test('env: every problem is reported at once, by variable', () => {
  const problems = problemsOf(() => read({ PORT: '99999', ROWS_MAX: 'many', KEY_FILE: '/run/none', LEVEL: 'middle' }));
  for (const name of ['PORT', 'ROWS_MAX', 'KEY_FILE', 'LEVEL']) {
    expect(problems.filter((problem) => problem.startsWith(`${name} `))).toHaveLength(1);
  }
  expect(problemsOf(() => read({}))).toEqual(['KEY is required']);
});

test('env: a name with one typing error is reported, with the right name', () => {
  const long = Type.Object({
    GATEWAY_PORT: port('where it listens', 8080),
    DATABASE_URL: Type.Optional(Type.String()),
  });
  const problems = (source: Record<string, string>): readonly string[] =>
    problemsOf(() => readEnv(long, source, readFile));
  for (const name of ['GATEWY_PORT', 'GATEWAY_PROT', 'GATEWAYS_PORT', 'GATEWAY-PORT']) {
    expect(problems({ [name]: '1' })).toEqual([`${name} is not known; did you mean GATEWAY_PORT?`]);
  }
  expect(problems({ DATABASE_URLS_FILE: '/x' })).toEqual([
    'DATABASE_URLS_FILE is not known; did you mean DATABASE_URL_FILE?',
  ]);
  // Swapped letters are found in short names too, and even if the right variable is set.
  expect(problems({ DATABASE_ULR: 'x' })).toEqual(['DATABASE_ULR is not known; did you mean DATABASE_URL?']);
  const nats = Type.Object({ NATS_URL: Type.Optional(Type.String()) });
  expect(problemsOf(() => readEnv(nats, { NATS_ULR: 'x' }, readFile))).toEqual([
    'NATS_ULR is not known; did you mean NATS_URL?',
  ]);
  expect(problems({ GATEWAY_PORT: '1', GATEWAY_PROT: '2' })).toEqual([
    'GATEWAY_PROT is not known; did you mean GATEWAY_PORT, which is set as well?',
  ]);
  // Variables of other programs, or of other services in a Kubernetes cluster.
  expect(problems({ GATEWAY_PORT: '1', GATEWAYS_PORT: '2', GATEWAY_A_PORT: '3', PATH: '/bin' })).toEqual([]);
});

test('env: the error for a wrong value shows the value and what is wanted, but no secret; each error is one line', () => {
  const schema = Type.Object({
    ROWS: count('rows', 5),
    PORT: port('port', 8080),
    ON: flag('on', true),
    KEY: secret('key', { pattern: '^x' }),
    LIST: secret('list', { pattern: '^x', problems: () => ['has to begin with x'] }),
  });
  const source = { ROWS: '0', PORT: 'abc', ON: 'perhaps', KEY: 'hidden', LIST: 'hidden' };
  expect(problemsOf(() => readEnv(schema, source, readFile)).toSorted()).toEqual([
    'KEY must match pattern "^x"',
    'LIST has to begin with x',
    'ON must be true or false, and is "perhaps"',
    'PORT must be a whole number from 0 to 65535, and is "abc"',
    'ROWS must be a whole number of at least 1, and is 0',
  ]);
});

test('env: rules that variables declare are checked together with everything else', () => {
  const ways = ['USER', 'TOKEN'];
  const { read: readLogin } = defineEnv({
    CERT: optionalText('certificate', { needs: 'SEAL' }),
    SEAL: optionalSecret('its key', { needs: 'CERT' }),
    USER: optionalText('user', { alternatives: ways }),
    TOKEN: optionalText('token', { alternatives: ways }),
    RANGES: optionalText('ranges', {
      problems: (value, given) => (given['USER'] === undefined ? [`holds ${value}`, 'is alone'] : []),
    }),
    ADDRESS: secret('address', { whenMissing: 'npm start starts one' }),
  });
  const check = (source: Record<string, string>): readonly string[] =>
    problemsOf(() => readLogin({ ADDRESS: 'a', ...source }));
  expect(check({})).toEqual([]);
  expect(check({ CERT: 'a', SEAL: 'b', USER: 'c', RANGES: 'd' })).toEqual([]);
  expect(check({ CERT: 'a' })).toEqual(['SEAL is missing: CERT does nothing without it']);
  expect(check({ SEAL: 'a' })).toEqual(['CERT is missing: SEAL does nothing without it']);
  // A secret whose file cannot be read counts as set, so only the file is reported.
  expect(check({ CERT: 'a', SEAL_FILE: '/none' })).toEqual(['SEAL_FILE names /none, which does not exist']);
  expect(check({ ADDRESS: '', USER: 'a', TOKEN: 'b' })).toEqual([
    'USER and TOKEN are both set: keep one',
    'ADDRESS is required: npm start starts one',
  ]);
  expect(check({ CERT: 'a', RANGES: 'x' })).toEqual([
    'SEAL is missing: CERT does nothing without it',
    'RANGES holds x',
    'RANGES is alone',
  ]);
});

test('env: the error for a value outside a list names the list', () => {
  expect(() => read({ KEY: 'abc', LEVEL: 'middle' })).toThrow(/LEVEL must be one of low, high/);
});
