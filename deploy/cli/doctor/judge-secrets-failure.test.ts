import pg from 'pg';
import { expect, test } from 'vitest';
import { SecretError } from '../../../shared/contracts/config/secrets.ts';
import { judgeSecretsFailure } from './judge-secrets-failure.ts';

function databaseError(code: string, message: string): pg.DatabaseError {
  const error = new pg.DatabaseError(message, message.length, 'error');
  error.code = code;
  return error;
}

const judge = (error: unknown) => judgeSecretsFailure('secrets key', error, 'destinations cannot be read');
const unread = 'not tested: the sealed secrets could not be read';

test.each([
  ['42P01', 'relation "source_keys" does not exist'],
  ['42703', 'column "test" does not exist'],
])('sealed secrets: %s asks for a migration', (code, message) => {
  expect(judge(databaseError(code, message))).toMatchObject({ level: 'warn', detail: unread, advice: 'migrate first' });
});

test('sealed secrets: for any other failure of the database, the finding says what failed', () => {
  expect(judge(databaseError('57014', 'canceling statement due to statement timeout'))).toEqual({
    level: 'warn',
    about: 'secrets key',
    detail: `${unread}: canceling statement due to statement timeout (57014)`,
    advice: 'run the doctor again',
  });
  expect(judge(new Error('Query read timeout'))).toMatchObject({
    level: 'warn',
    detail: `${unread}: Query read timeout`,
    advice: 'run the doctor again',
  });
});

test('sealed secrets: if the database role may not read them, the finding is a warning that says so', () => {
  expect(judge(databaseError('42501', 'permission denied for table source_keys'))).toMatchObject({
    level: 'warn',
    detail: 'this role may not read sealed secrets',
  });
});

test('sealed secrets: a key that does not open them is a failure', () => {
  expect(judge(new SecretError('opening a secret: the value is not sealed'))).toMatchObject({
    level: 'fail',
    detail: 'opening a secret: the value is not sealed',
    advice: expect.stringContaining('without it destinations cannot be read') as string,
  });
});
