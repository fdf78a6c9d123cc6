import { expect, test } from 'vitest';
import { readPullStatus } from './pull-status.ts';

test.each([
  [100, 'Idle Heartbeat', { kind: 'heartbeat' }],
  [404, 'No Messages', { kind: 'over' }],
  [408, 'Request Timeout', { kind: 'over' }],
  [409, 'Batch Completed', { kind: 'over' }],
  [409, 'Message Size Exceeds MaxBytes', { kind: 'over' }],
  [409, 'Consumer Deleted', { kind: 'unanswered', reason: '409 Consumer Deleted' }],
  [503, '', { kind: 'unanswered', reason: '503' }],
  [400, 'Bad Request - Invalid Priority Group', { kind: 'refused' }],
  [409, 'Leadership Change', { kind: 'cut' }],
  [409, 'Server Shutdown', { kind: 'cut' }],
  [409, 'Exceeded MaxWaiting', { kind: 'cut' }],
  [423, 'Nats-Pin-Id mismatch', { kind: 'cut' }],
] as const)('pull status: %i %s is reported', (code, description, told) => {
  expect(readPullStatus({ headers: { code, description } })).toEqual(told);
});

test('pull status: a message without a status line means that the pull was cut', () => {
  expect(readPullStatus({})).toEqual({ kind: 'cut' });
});
