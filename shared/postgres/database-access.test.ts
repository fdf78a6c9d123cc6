import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { EnvError, readEnv } from '../runtime/env.ts';
import type { DatabaseAccess } from './database-access.ts';
import { connectFailure, databaseAccess, databaseEnv, databaseTimeoutDefaults, sslOptions } from './database-access.ts';

const pem = (what: string): string => `-----BEGIN ${what}-----\nAAAA\n-----END ${what}-----`;
const ca = { DATABASE_CA: pem('CERTIFICATE') };
const own = { DATABASE_CERT: pem('CERTIFICATE'), DATABASE_KEY: pem('EC PRIVATE KEY') };
const address = 'postgresql://sluice@db.internal/sluice';

function read(variables: Record<string, string>): DatabaseAccess {
  const source = { DATABASE_URL: address, ...variables };
  return databaseAccess(readEnv(Type.Object(databaseEnv), source, () => ''));
}

const problemsOf = (variables: Record<string, string>): readonly string[] => {
  try {
    read(variables);
    return [];
  } catch (error) {
    if (error instanceof EnvError) return error.problems;
    throw error;
  }
};

test('database: without TLS settings the connection is not encrypted', () => {
  expect(read({})).toEqual({ databaseUrl: address, databaseTimeouts: databaseTimeoutDefaults });
  const bounded = read({ DATABASE_STATEMENT_TIMEOUT_MS: '2000' });
  expect(bounded.databaseTimeouts).toMatchObject({ statementMs: 2_000, lockMs: 1_000 });
  expect(sslOptions(undefined)).toBe(false);
});

test.each([
  ['disable', {}, undefined],
  ['require', {}, 'nothing'],
  ['require', ca, 'signature'],
  ['verify-ca', ca, 'signature'],
  ['verify-full', {}, 'name'],
])('database: sslmode=%s means the same as in PostgreSQL', (mode, variables, verify) => {
  const found = read({ ...variables, DATABASE_URL: `${address}?sslmode=${mode}&application_name=x` });
  expect(found.databaseUrl).toBe(`${address}?application_name=x`);
  expect(found.databaseTls?.verify).toBe(verify);
});

test('database: DATABASE_CA or a client certificate alone verifies the server’s certificate and name', () => {
  expect(read(ca).databaseTls).toEqual({ verify: 'name', ca: ca.DATABASE_CA });
  expect(read(own).databaseTls).toEqual({ verify: 'name', cert: own.DATABASE_CERT, key: own.DATABASE_KEY });
  expect(sslOptions({ verify: 'name' })).toEqual({ rejectUnauthorized: true });
  expect(sslOptions({ verify: 'nothing' })).toEqual({ rejectUnauthorized: false });
});

test('database: the password may be given separately from the address', () => {
  expect(read({ DATABASE_PASSWORD: 'p@ss/w:rd%' }).databaseUrl).toBe(
    'postgresql://sluice:p%40ss%2Fw%3Ard%25@db.internal/sluice',
  );
});

test.each([
  [{ DATABASE_CERT: pem('CERTIFICATE') }, 'DATABASE_KEY is missing: DATABASE_CERT does nothing without it'],
  [{ DATABASE_KEY: pem('PRIVATE KEY') }, 'DATABASE_CERT is missing: DATABASE_KEY does nothing without it'],
  [{ DATABASE_CA: 'ca.pem' }, 'DATABASE_CA must match pattern "-----BEGIN CERTIFICATE-----", and is "ca.pem"'],
  [{ DATABASE_URL: 'mysql://x' }, 'DATABASE_URL is not a URL that begins with postgres:// or postgresql://'],
  [
    { DATABASE_URL: `${address}?sslmode=prefer` },
    'DATABASE_URL has sslmode=prefer, which must be one of disable, require, verify-ca, verify-full',
  ],
  [
    { DATABASE_URL: `${address}?sslrootcert=/x` },
    'DATABASE_URL has sslrootcert=: use sslmode=, and DATABASE_CA_FILE, DATABASE_CERT_FILE and DATABASE_KEY_FILE',
  ],
  [
    { ...ca, DATABASE_URL: `${address}?sslmode=disable` },
    'DATABASE_URL has sslmode=disable, with which DATABASE_CA and DATABASE_CERT do nothing',
  ],
])('database: a setting that is invalid or would do nothing is refused: %o', (variables, problem) => {
  expect(problemsOf(variables)).toEqual([problem]);
});

const failed = (message: string, code?: string): Error => Object.assign(new Error(message), { code });

test.each([
  [failed('password authentication failed for user "x"', '28P01'), /refuses the login: check DATABASE_URL/],
  [failed('connection requires a valid client certificate', '28000'), /check .*DATABASE_CERT.*client certificate/],
  [failed('database "x" does not exist', '3D000'), /database "x" does not exist/],
  [failed('The server does not support SSL connections'), /the server does not support it/],
  [failed('', 'ECONNREFUSED'), /DATABASE_URL: ECONNREFUSED/],
  [failed('certificate has expired', 'CERT_HAS_EXPIRED'), /has expired/],
  [failed('self-signed', 'SELF_SIGNED_CERT_IN_CHAIN'), /not signed by an authority in DATABASE_CA/],
  [
    failed('tlsv1 alert decrypt error:…:SSL alert number 51'),
    /does not accept the client certificate: check DATABASE_CERT/,
  ],
])('database: the failure "%s" is reported with the variables to check', (error, told) => {
  expect(connectFailure(error)?.message).toMatch(told);
});

test('database: a failed statement is not reported as a failed connection', () => {
  expect(connectFailure(failed('duplicate key', '23505'))).toBeUndefined();
});

test('database: a failed connection is recognized in the cause of the ORM’s error', () => {
  const inner = failed('password authentication failed', '28P01');
  expect(connectFailure(new Error('while connecting', { cause: inner }))?.cause).toBeInstanceOf(Error);
});
