import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TakenMessages } from './taken-messages.ts';

test('taken messages: a message in flight is not taken twice, a finished one is acknowledged again, a released one is new', () => {
  const taken = new TakenMessages(0, 0);
  for (const seq of [1, 2, 3, 4]) expect(taken.received(seq, seq)).toBe('new');
  taken.acknowledge(2, 2);
  taken.finish(3, 3);
  taken.release(4, 4);
  taken.rewound(0);
  expect([1, 2, 3, 4].map((seq) => taken.received(seq, seq))).toEqual([
    'in-flight',
    'acknowledged',
    'in-flight',
    'new',
  ]);
});

test('taken messages: finished: lists everything below the oldest unfinished message, and finished messages above it', () => {
  const taken = new TakenMessages(10, 0);
  for (const seq of [12, 15, 18, 20]) taken.received(seq, 1_000 + seq);
  taken.acknowledge(12, 1_012);
  taken.finish(18, 1_018);
  expect(taken.finished).toEqual({ upTo: 12, above: [18], storedUntilMs: 1_018 });
  expect(taken.size).toBe(3);
});

test('taken messages: restore: messages that another reader finished are acknowledged, messages it left out are new', () => {
  const taken = new TakenMessages(5, 0);
  taken.restore({ upTo: 6, above: [8, 9], storedUntilMs: 100 });
  expect([6, 7, 8, 9, 10].map((seq) => taken.received(seq, seq))).toEqual([
    'acknowledged',
    'new',
    'acknowledged',
    'acknowledged',
    'new',
  ]);
  expect(taken.finished.upTo).toBe(6);
  // Messages that the server delivers again have to be acknowledged again.
  expect([6, 8, 9].map((seq) => taken.acknowledge(seq, seq))).toEqual([true, true, true]);
  taken.acknowledge(7, 7);
  expect(taken.finished.upTo).toBe(9);
});

test('taken messages: restore: a position that adds no message does not make later messages count as finished', () => {
  const taken = new TakenMessages(0, 0);
  taken.restore({ upTo: 10, above: [], storedUntilMs: 100 });
  taken.restore({ upTo: 4, above: [], storedUntilMs: 900 });
  taken.rewound(0);
  // The stream lost its end, and has used sequence 7 again since.
  expect([taken.received(3, 100), taken.received(7, 500)]).toEqual(['acknowledged', 'new']);
});

test('taken messages: if the stream reuses a sequence, its message counts as a new one', () => {
  const taken = new TakenMessages(0, 0);
  taken.received(1, 1_000);
  taken.received(2, 1_001);
  taken.acknowledge(1, 1_000);
  taken.acknowledge(2, 1_001);
  taken.rewound(0);
  expect(taken.received(1, 1_000)).toBe('acknowledged');
  expect(taken.received(2, 5_000)).toBe('new');
});

test('taken messages: a sequence that the stream reuses while its old message is in flight counts as a new message', () => {
  const taken = new TakenMessages(0, 0);
  for (const seq of [1, 2, 3]) taken.received(seq, 1_000);
  taken.finish(2, 1_000);
  taken.rewound(0);
  expect([1, 2, 3].map((seq) => taken.received(seq, seq === 1 ? 1_000 : 5_000))).toEqual(['in-flight', 'new', 'new']);
  // An ack or a release of the old messages does not count for the new messages.
  expect(taken.acknowledge(2, 1_000)).toBe(false);
  taken.release(3, 1_000);
  taken.rewound(0);
  expect([1, 2, 3].map((seq) => taken.received(seq, seq === 1 ? 1_000 : 5_000))).toEqual([
    'in-flight',
    'in-flight',
    'in-flight',
  ]);
  expect(taken.acknowledge(2, 5_000)).toBe(true);
  expect(taken.received(2, 5_000)).toBe('acknowledged');
});

test('taken messages: if a stream lost its last messages, later messages with the same sequences are new', () => {
  const taken = new TakenMessages(0, 0);
  for (const seq of [1, 2, 3, 4]) {
    taken.received(seq, seq);
    taken.acknowledge(seq, seq);
  }
  taken.rewound(1);
  expect(taken.received(2, 5_000)).toBe('new');
  expect(taken.finished.upTo).toBe(1);
  expect(taken.received(3, 5_001)).toBe('new');
  taken.acknowledge(3, 5_001);
  expect(taken.received(4, 5_001)).toBe('new');
});

test('taken messages: whatever is rewound or forgotten by the server, each message is taken once and no message is left out', () => {
  const step = fc.oneof(
    fc.constant({ kind: 'deliver' as const }),
    fc.constant({ kind: 'rewind' as const }),
    fc.record({ kind: fc.constant('forget' as const), at: fc.nat(40) }),
    fc.record({ kind: fc.constantFrom('finish' as const, 'release' as const), pick: fc.nat(40) }),
    fc.record({ kind: fc.constant('succeed' as const), pick: fc.nat(40) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const last = 40;
      const acked = new Set<number>();
      const floor = (): number => {
        let seq = 0;
        while (acked.has(seq + 1)) seq += 1;
        return seq;
      };
      const done = new Set<number>();
      const inHand = new Set<number>();
      let taken = new TakenMessages(0, 0);
      let next = 1;
      const acknowledge = (seq: number): void => {
        inHand.delete(seq);
        done.add(seq);
        acked.add(seq);
        taken.acknowledge(seq, seq);
      };
      const deliver = (): boolean => {
        if (next > last) return false;
        const seq = next;
        next += 1;
        const received = taken.received(seq, seq);
        expect(received).toBe(done.has(seq) ? 'acknowledged' : inHand.has(seq) ? 'in-flight' : 'new');
        if (received === 'new') inHand.add(seq);
        return true;
      };
      const deliverAll = (): void => {
        while (deliver());
      };
      const rewind = (): void => {
        next = floor() + 1;
        taken.rewound(next - 1);
      };
      for (const move of steps) {
        if (move.kind === 'deliver') deliver();
        else if (move.kind === 'rewind') rewind();
        else if (move.kind === 'forget') {
          // The server was killed: its latest acknowledgements are lost, and it delivers those messages again.
          for (const seq of acked) if (seq > move.at) acked.delete(seq);
          rewind();
        } else {
          const seq = [...inHand][move.pick];
          if (seq === undefined && move.kind !== 'succeed') continue;
          if (move.kind === 'finish') acknowledge(seq ?? 0);
          else if (move.kind === 'release') {
            inHand.delete(seq ?? 0);
            taken.release(seq ?? 0, seq ?? 0);
            rewind();
          } else {
            // Another reader takes over, with the finished messages of this reader.
            const { finished } = taken;
            inHand.clear();
            taken = new TakenMessages(floor(), last);
            taken.restore(finished);
            rewind();
          }
        }
      }
      deliverAll();
      for (const seq of inHand) acknowledge(seq);
      rewind();
      deliverAll();
      expect(done.size).toBe(last);
    }),
  );
});

test('taken messages: a skip finishes all messages except those in flight, and a redelivered skipped message is acknowledged', () => {
  const taken = new TakenMessages(10, 1_000);
  for (const seq of [11, 12, 13]) taken.received(seq, 1_000 + seq);
  taken.acknowledge(11, 1_011);
  taken.release(13, 1_013);
  // Only message 12 is in flight: message 11 is done, and message 13 was released.
  expect(taken.skipTo(20, 1_100)).toBe(1);
  expect(taken.finished.upTo).toBe(20);
  taken.rewound(20);
  expect([taken.received(14, 1_014), taken.received(21, 1_200)]).toEqual(['acknowledged', 'new']);
  taken.acknowledge(12, 1_012);
  taken.acknowledge(21, 1_200);
  expect([taken.finished.upTo, taken.size]).toEqual([21, 0]);
});
