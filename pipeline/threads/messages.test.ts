import { expect, test } from 'vitest';
import { unansweredError } from '../../shared/nats/connection/server-error.ts';
import { ConsumerError, ConsumerTakenError } from '../../shared/nats/consume/consumers.ts';
import { CheckpointsTakenOverError } from '../workers/resolve/checkpoint-writer.ts';
import { OtherWriterError } from '../workers/resolve/partition-writer.ts';
import { toWireError } from './messages.ts';

test.each([
  ['a timeout of the log', unansweredError('timeout'), true],
  ['a consumer taken over', new ConsumerTakenError('consumer a was taken over by another reader'), true],
  ['checkpoints taken over', new CheckpointsTakenOverError('taking over deduplication.0'), true],
  ['events of another writer', new OtherWriterError('events.a.0 has another writer'), true],
  ['another error of a consumer', new ConsumerError('reading consumer a'), undefined],
  ['a fault of the actor', new TypeError('x is not a function'), undefined],
  ['no error at all', 'text', undefined],
] as const)('errors across threads: %s: whether the actor is not at fault', (_what, error, isBlameless) => {
  expect(toWireError(error).isBlameless).toBe(isBlameless);
});
