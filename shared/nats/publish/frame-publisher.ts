import { headers as createHeaders } from 'nats';
import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';
import { createPredecessors, predecessorHeader } from '../messages/predecessors.ts';
import { msgIdHeader } from '../messages/subject-log.ts';
import { readPublishAnswer } from './publish-answer.ts';
import type { PublishFailure } from './publish-answer.ts';
import { streamOf } from '../streams/topology.ts';

/** Publishes frames to the log. The header of each frame names its predecessor on the subject. */
export type FramePublisher = {
  /** Tries once. Resolves with undefined once JetStream has stored the frame, else with the reason; never rejects. */
  publish(subject: string, payload: Uint8Array, msgId: string, timeoutMs: number): Promise<PublishFailure | undefined>;
};

export function createFramePublisher(connection: LogConnection): FramePublisher {
  const { asker } = connection[client];
  const predecessors = createPredecessors();
  return {
    async publish(subject, payload, msgId, timeoutMs) {
      // The client has no useful reconnect buffer: data written while disconnected is dropped.
      if (!connection.connected) return 'disconnected';
      const headers = createHeaders();
      headers.set(msgIdHeader, msgId);
      headers.set(predecessorHeader, predecessors.next(subject));
      const message = await asker.ask(subject, payload, { headers, timeoutMs });
      if (typeof message === 'string') return message;
      const answer = readPublishAnswer(message.data, streamOf(subject));
      if (answer.kind === 'failed') return answer.reason;
      predecessors.stored(subject, answer.seq);
      return undefined;
    },
  };
}
