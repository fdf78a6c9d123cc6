import { DatabaseError } from 'pg';
import { expect, test } from 'vitest';
import { failureFields } from './isolate-refused.ts';

test('failure fields: a value that the database refused is not quoted, whatever the message of the database', () => {
  const refused = new DatabaseError('invalid input syntax: "ann@example.com"', 10, 'error');
  refused.code = '22P02';
  refused.detail = 'ann@example.com';
  expect(failureFields(refused)).toEqual({ code: '22P02', reason: 'value refused' });
});

test('failure fields: a failure that refuses no value keeps its message', () => {
  const missing = new DatabaseError('relation "recent_events" does not exist', 10, 'error');
  missing.code = '42P01';
  expect(failureFields(missing)).toEqual({ code: '42P01', reason: 'relation "recent_events" does not exist' });
  expect(failureFields(new Error('connect timeout'))).toEqual({ reason: 'connect timeout' });
  expect(failureFields('?')).toEqual({ reason: 'unknown' });
});
