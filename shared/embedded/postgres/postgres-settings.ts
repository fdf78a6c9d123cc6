/** What a PostgreSQL server of ours is told on its command line, so that data of an older version follow new settings. */
export function postgresSettings({ port, durable }: { port: number; durable: boolean }): Record<string, string> {
  return {
    port: String(port),
    listen_addresses: '127.0.0.1',
    // Loopback TCP with a password is the only way in; a socket would need a folder both accounts can enter.
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: '64MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Rows hold personal data. These keep statements, their parameters and the values of a violated key out of the log.
    log_min_error_statement: 'panic',
    log_parameter_max_length_on_error: '0',
    log_error_verbosity: 'terse',
    // Commits still reach the operating system before they are acknowledged, so that killing the server loses none.
    ...(durable ? {} : { fsync: 'off', full_page_writes: 'off' }),
  };
}
