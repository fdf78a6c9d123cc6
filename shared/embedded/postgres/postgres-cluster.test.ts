import { expect, test } from 'vitest';

import { postgresSettings } from './postgres-cluster.ts';

test('postgres settings: only a server for tests may lose commits that it acknowledged', () => {
  expect(postgresSettings({ port: 5432, durable: true })).not.toHaveProperty('fsync');
  expect(postgresSettings({ port: 5432, durable: false })).toMatchObject({ fsync: 'off', port: '5432' });
});

test('postgres settings: the server is on loopback only and logs no rows', () => {
  expect(postgresSettings({ port: 1, durable: true })).toMatchObject({
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
  });
});
