import type { Msg } from 'nats';
import { expect, test } from 'vitest';
import { readLogMessage } from './log-message.ts';

test.each(['$JS.ACK.EVENTS.reader', '$JS.ACK.domain.hash.EVENTS.reader'])(
  'log message: the time of %s is cut to its millisecond, as that of a message that is read by its sequence',
  (prefix) => {
    const pulled = { subject: 'a', data: new Uint8Array(), reply: `${prefix}.1.5.6.1764480000123999999.7` };
    expect(readLogMessage({} as never, pulled as Msg)).toMatchObject({
      timesHandedOut: 1,
      seq: 5,
      consumerSeq: 6,
      storedAtMs: 1_764_480_000_123,
      pending: 7,
    });
  },
);
