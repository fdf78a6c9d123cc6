import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';

const headers = Type.Record(Type.String(), Type.String());

/** What a test of a destination answers. */
export const destinationTestReply = Type.Object({
  outcome: Type.Enum(['delivered', 'retry', 'reject', 'skipped'], {
    description:
      'delivered: the platform took it. retry: the pipeline would try again. reject: it would become a dead letter. ' +
      'skipped: the kind has no use for an event of this name and sends nothing.',
  }),
  reason: nullable(
    Type.String({
      description:
        'Why it was not delivered: `status 401`, `network ECONNREFUSED`, `egress_denied` for an address destinations ' +
        'may not have, or what the event lacks.',
    }),
  ),
  settings: Type.Enum(['draft', 'published']),
  eventId: Type.String({ description: 'The id the event went out with.' }),
  durationMs: nullable(Type.Integer({ minimum: 0, description: 'Null when nothing was sent.' })),
  request: nullable(
    Type.Object({
      method: Type.String(),
      url: Type.String(),
      headers,
      body: nullable(Type.String({ description: 'Its first 65,536 characters.' })),
    }),
  ),
  answer: nullable(
    Type.Object({
      status: Type.Integer(),
      headers,
      body: Type.String({ description: 'Its first 16,384 characters.' }),
    }),
  ),
});
