/**
 * Variables that earlier versions read, with what holds instead. An installation that still sets one starts, and logs a
 * warning for each. An entry stays for two minor versions.
 */
export const removedVariables: Readonly<Record<string, string>> = {
  ACCOUNT_COSTLY_BURST_MS:
    'costly work of an account waits after 5 seconds of it; ACCOUNT_COSTLY_PERCENT is its share of the time',
  ACCOUNT_COSTLY_WAIT_MAX_MS: 'costly work that would wait for over 10 seconds is refused',
  ACTIVITY_HOURS_KEPT: 'activity is kept for 168 hours',
  ADDRESS_LOGINS_RUNNING_MAX: 'two keys of an address are looked up at a time',
  ADDRESS_REFUSED_KEYS_PER_S:
    'five refused keys a second are allowed over time; ADDRESS_REFUSED_KEYS_BURST is what is allowed at once',
  BACKLOG_EVERY_MS: 'backlogs are read every 5 seconds, or four times in BACKPRESSURE_AGE_MAX_MS',
  BACKPRESSURE_ACCOUNTS_MAX: 'a pipeline reports up to 5,000 accounts that are held back',
  BATCH_CONTEXT_BYTES_MAX: 'the context of a batch has up to 8 KiB',
  BATCH_KEYS_MAX: 'a batch has up to 100,000 object keys',
  CLOCK_JUMP_MS: 'changes of the clock by 1 second or more are counted',
  COMPAT_BATCH_ROWS_MAX: 'a request of a library of another service has up to 10,000 messages',
  CONSOLE_ACTIVITY_EVERY_MS: 'the overview is read every 2 seconds',
  CONSOLE_EVENTS_EVERY_MS: 'new events are read every second',
  CONSOLE_SIGN_IN_LINK_MS: 'a sign-in link works for an hour',
  CONTROL_PLANE_LOGIN_CONNECTIONS_MAX: 'four connections look up API keys',
  DATABASE_LOCK_TIMEOUT_MS: 'a statement waits for a lock for half of DATABASE_STATEMENT_TIMEOUT_MS',
  DEAD_LETTERS_PAGE_BYTES_MAX: 'a page of dead letters reads up to 8 MiB',
  DEAD_LETTERS_PAGE_MS: 'a page of dead letters takes up to 3 seconds',
  DESTINATION_TESTS_MAX: 'eight tests of destinations run at a time, two of one account',
  DISPATCH_ACCESS_RETRY_MAX_MS: 'the longest pause is 10 minutes',
  DISPATCH_CONNECT_TIMEOUT_MS:
    'a connection is made within 3 seconds; DISPATCH_TOTAL_TIMEOUT_MS bounds the whole request',
  DISPATCH_EVENTS_HELD_MAX: 'a destination holds up to 4,096 events; DISPATCH_BYTES_HELD_MAX bounds their bytes',
  DISPATCH_FRAMES_AHEAD_MAX: 'up to 4,096 frames are handed out after the oldest unfinished one',
  DISPATCH_FRAMES_BUFFERED_MAX: 'up to 32 frames are fetched ahead; DISPATCH_BYTES_HELD_MAX bounds their bytes',
  DISPATCH_HEADERS_TIMEOUT_MS: 'an answer begins within 10 seconds; DISPATCH_TOTAL_TIMEOUT_MS bounds the whole request',
  DISPATCH_HEALTH_FLUSH_MS: 'health windows are stored every 250 ms',
  DISPATCH_OPENED_FRAMES_BYTES_MAX: 'a thread keeps up to 16 MiB of opened frames',
  DISPATCH_PARKED_BYTES_MAX: 'parked events have half of DISPATCH_RETRY_BYTES_MAX',
  DISPATCH_PARKED_EVENTS_MAX:
    'up to 200,000 events of a destination are parked; half of DISPATCH_RETRY_BYTES_MAX bounds their bytes',
  DISPATCH_REQUEST_BYTES_MAX: 'events of one request have up to 512 KiB',
  DISPATCH_ROUND_WORK_MAX: 'an account has 100,000 units of work in a round',
  DISPATCH_VISITORS_WAITING_MAX:
    'up to 100,000 visitors of a destination wait; half of DISPATCH_RETRY_BYTES_MAX bounds their bytes',
  DOCTOR_BUSY_DESTINATIONS: 'the doctor counts eight busy destinations',
  EXPERIMENT_PAGE_WORK_MAX: 'a page may cost 2,000,000 units of work; EXPERIMENT_WORK_PER_S bounds those of an account',
  EXPERIMENT_WAITING_MAX: 'up to 5,000 visitors wait to be assigned',
  FRAME_BYTES_MAX: 'a frame has up to 512 KiB',
  FRAME_LINGER_MS: 'a frame grows for up to 5 ms while another one is in flight; FRAMES_IN_FLIGHT_MAX bounds these',
  FRAME_ROUND_BYTES: 'a round of 24 KiB goes at once, of 128 KiB where LOG_REPLICAS is over 1',
  GZIP_ADDRESS_IN_FLIGHT_MAX: 'an address has half of GZIP_IN_FLIGHT_MAX',
  GZIP_RATIO_MAX: 'a compressed body grows by a factor of up to 200',
  JSON_KEYS_MAX: 'an event has up to 10,000 object keys',
  LOG_CONSUMERS_MAX: 'a stream admits 100,000 consumers',
  PIPELINE_ACCOUNT_WORK_PER_S:
    'an account has 30 million units of work a second of a thread while others have work there',
  PIPELINE_LEASE_RENEW_MS: 'a lease is renewed four times in PIPELINE_LEASE_SILENT_MS',
  PIPELINE_THREAD_HEAP_FLOOR_MIB: 'the heap of a thread is not marked below 128 MiB',
  PIPELINE_THREAD_YOUNG_HEAP_MIB: 'a thread has 24 MiB for new objects; PIPELINE_THREAD_HEAP_MIB bounds its heap',
  PUBLISH_TIMEOUT_MS: 'a try of a publish has two fifths of REQUEST_DEADLINE_MS',
  QUEUE_EVENTS_MAX: 'up to 100,000 events wait for the log; QUEUE_BYTES_MAX bounds their bytes',
  RECENT_EVENTS_BEHIND_FRAMES_MAX: 'a start reads up to 2,000 frames for the view',
  RECENT_EVENTS_BODY_BYTES_MAX: 'an event in the view has up to 16 KiB',
  RECENT_EVENTS_BURST_MAX: 'the burst is 20 times RECENT_EVENTS_PER_S_MAX',
  RECENT_EVENTS_LINGER_MS: 'events wait for 250 ms to share a statement',
  RECENT_EVENTS_PER_INSERT: 'a statement writes up to 500 events',
  RECENT_EVENTS_TRIM_EVERY_MS: 'the view is cut to its bounds every minute',
  RECENT_EVENTS_WAITING_BYTES_MAX: 'up to 16 MiB of a resolver wait for the view',
  RECENT_OUTCOMES_FLUSH_MS: 'outcomes are written every 250 ms',
  RECENT_OUTCOMES_MISSES_MAX: 'the event of an outcome is looked up 6 times',
  RECENT_OUTCOMES_PER_WRITE: 'a statement writes up to 1,000 outcomes',
  RECENT_OUTCOMES_WAITING_MAX: 'up to 20,000 outcomes of a thread wait',
  REMEMBERED_REQUESTS_MAX: 'up to 10,000 requests without an id are remembered',
  REMEMBERED_REQUESTS_MS: 'requests without an id are remembered for two minutes',
  RESOLVER_CHECKPOINT_BYTES_MAX: 'a checkpoint has up to 256 KiB',
  RESOLVER_CHECKPOINT_EVERY_MS: 'checkpoints are written every 10 seconds',
  RESOLVER_FRAMES_IN_FLIGHT_MAX:
    'up to 1,024 frames of a partition are unfinished; RESOLVER_WAITING_BYTES_MAX bounds their bytes',
  RESOLVER_FRAMES_PER_TAKE: 'a resolver takes up to 16 frames at a time',
  RESOLVER_PART_EVENTS_MAX: 'a batch has up to 1,024 events',
  RESOLVER_TAKE_CROWDED_MS: 'takes are RESOLVER_TAKE_EVERY_MS apart; longer distances showed no gain',
  RESOLVER_VISITOR_ALWAYS_BYTES: 'a profile of up to 8 KiB always travels whole',
  RESOLVER_VISITOR_BURST_BYTES: 'the burst is 256 KiB; RESOLVER_VISITOR_SHARE is the rate',
  RESOLVER_WRITES_MAX: 'a partition has up to 3 transactions at a time',
  RESULTS_ACK_WAIT_MS: 'a frame is delivered again after 30 seconds',
  RESULTS_FRAMES_PER_TAKE: 'a counter takes up to 32 frames at a time',
  RESULTS_LINGER_MS: 'a counter pauses for 100 ms',
  RESULTS_ROWS_PER_WRITE: 'a statement writes up to 500 visitors',
  RETENTION_HIGH_PERCENT: 'history is removed while EVENTS is over 70 % full',
  RETENTION_LOW_PERCENT: 'history is removed until EVENTS is 60 % full',
  SINK_BODY_BYTES_MAX: 'the sink takes bodies of up to 16 MiB',
  SINK_BYTES_MAX: 'the sink keeps 256 MiB',
  WEBHOOK_EVENTS_MAX: 'BATCH_ROWS_MAX is the limit of webhooks too',
  WEBHOOK_MULTIPART_IN_FLIGHT_MAX: 'up to 32 multipart bodies are read at a time',
  WEBHOOK_SIGNATURE_AGE_MS_MAX: 'a signature is valid for five minutes',
  WORK_ACTORS_TOLD_MAX: 'a report names up to 1,000 actors',
  WORK_TOLD_EVERY_MS: 'placement is reported every 4 seconds',
};

export type RemovedVariable = { readonly variable: string; readonly instead: string };

/** Removed variables that are set, or read from a file, in the environment of a process. */
export function findRemovedVariables(source: Readonly<Record<string, string | undefined>>): readonly RemovedVariable[] {
  const isSet = (name: string): boolean => source[name] !== undefined && source[name] !== '';
  return Object.entries(removedVariables).flatMap(([name, instead]) =>
    [name, `${name}_FILE`].filter(isSet).map((variable) => ({ variable, instead })),
  );
}
