import { createHmac } from 'node:crypto';
import type { JsonObject } from '../../runtime/json.ts';
import { jsonAnswer } from '../sdk/answers.ts';
import { ask, erasurePost, manual } from '../sdk/erasure.ts';
import type { ErasureOrder, PreparedErasure } from '../sdk/erasure.ts';
import { address, choice, optionalText, readWebUrl } from '../sdk/settings.ts';

export const httpErasureSettings = {
  erasureUrl: address(
    optionalText(
      {
        label: 'Erasure URL',
        placeholder: 'https://example.com/erasures',
        sublabel: 'If set, erasures are sent to this URL, with the headers and signature of events.',
      },
      readWebUrl,
    ),
  ),
  erasureFormat: choice<'sluice' | 'opendsr'>({
    label: 'Erasure format',
    options: [
      { label: 'Sluice', value: 'sluice' },
      { label: 'OpenDSR', value: 'opendsr' },
    ],
    sublabel: 'The format of an erasure request.',
    fallback: 'sluice',
  }),
};

type Given = {
  readonly erasureUrl: string | undefined;
  readonly erasureFormat: 'sluice' | 'opendsr';
  readonly signingSecret: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
};

/**
 * An operator's own endpoint: a 2xx means that the person is deleted, or will be by `expected_completion_time` in the
 * response. OpenDSR: https://github.com/opengdpr/OpenDSR
 */
export function eraseAtEndpoint({ erasureUrl, erasureFormat, signingSecret, headers }: Given): PreparedErasure {
  if (erasureUrl === undefined) return manual('The destination has no erasure URL.');
  return {
    begin(order) {
      const request = erasurePost(
        erasureUrl,
        { ...headers, 'idempotency-key': order.id },
        erasureFormat === 'opendsr' ? openDsr(order) : ownFormat(order),
      );
      const signature =
        signingSecret === undefined
          ? {}
          : {
              'x-signature-256': `sha256=${createHmac('sha256', signingSecret)
                .update(request.body ?? '')
                .digest('hex')}`,
            };
      return ask({ ...request, headers: { ...request.headers, ...signature } }, (answer) => {
        const expected = jsonAnswer(answer)?.['expected_completion_time'];
        if (typeof expected !== 'string') return { kind: 'done' };
        return { kind: 'requested', reference: expected.slice(0, 100) };
      });
    },
  };
}

function ownFormat({ id, requestedAtMs, dueAtMs, isSuppressed, subject }: ErasureOrder): JsonObject {
  const identities = [
    ...subject.visitorIds.map((value) => ({ kind: 'visitor_id', value })),
    ...subject.externalIds.map((value) => ({ kind: 'external_id', value })),
    ...subject.emails.map((value) => ({ kind: 'email', value })),
    ...subject.phones.map((value) => ({ kind: 'phone_number', value })),
  ];
  return {
    type: 'erasure',
    reference: id,
    requested_at: new Date(requestedAtMs).toISOString(),
    due_at: new Date(dueAtMs).toISOString(),
    suppressed: isSuppressed,
    identities,
  };
}

function openDsr({ id, requestedAtMs, subject }: ErasureOrder): JsonObject {
  const identity = (type: string) => (value: string) => ({
    identity_type: type,
    identity_value: value,
    identity_format: 'raw',
  });
  return {
    regulation: 'gdpr',
    subject_request_id: id,
    subject_request_type: 'erasure',
    submitted_time: new Date(requestedAtMs).toISOString(),
    subject_identities: [
      ...subject.externalIds.map(identity('controller_customer_id')),
      ...subject.visitorIds.map(identity('controller_customer_id')),
      ...subject.emails.map(identity('email')),
      ...subject.phones.map(identity('phone_number')),
    ],
    api_version: '2.0',
  };
}
