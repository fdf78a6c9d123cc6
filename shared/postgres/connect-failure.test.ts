import { expect, test } from 'vitest';
import { connectFailure } from './connect-failure.ts';

const failed = (message: string, code?: string): Error => Object.assign(new Error(message), { code });

test.each([
  [failed('password authentication failed for user "x"', '28P01'), /does not let us in: see DATABASE_URL/],
  [failed('connection requires a valid client certificate', '28000'), /see .*DATABASE_CERT.*client certificate/],
  [failed('database "x" does not exist', '3D000'), /database "x" does not exist/],
  [failed('The server does not support SSL connections'), /the server does not speak it/],
  [failed('', 'ECONNREFUSED'), /DATABASE_URL: ECONNREFUSED/],
  [failed('certificate has expired', 'CERT_HAS_EXPIRED'), /has expired/],
  [failed('self-signed', 'SELF_SIGNED_CERT_IN_CHAIN'), /not signed by an authority in DATABASE_CA/],
  [failed('tlsv1 alert decrypt error:…:SSL alert number 51'), /does not accept our certificate: see DATABASE_CERT/],
])('database: the failure "%s" is told with what to look at', (error, told) => {
  expect(connectFailure(error)?.message).toMatch(told);
});

test('database: a failure that is not of connecting is none of ours', () => {
  expect(connectFailure(failed('duplicate key', '23505'))).toBeUndefined();
});

test('database: a failure is known inside the one that the ORM makes of it', () => {
  const inner = failed('password authentication failed', '28P01');
  expect(connectFailure(new Error('while connecting', { cause: inner }))?.cause).toBeInstanceOf(Error);
});
