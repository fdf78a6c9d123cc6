import { mergeMembers } from '../../json/exact-numbers.ts';
import { membersAsFields } from '../sdk/form-fields.ts';
import { bodySignature } from '../sdk/signature.ts';
import { defineSourceKind } from '../sdk/source-kind.ts';

/** Formstack: a submission as a form or JSON, with answers by field name. */
export const formstack = defineSourceKind({
  type: 'Formstack',
  label: 'Formstack',
  setUp: 'The form, Settings, Emails & Actions, WebHook: WebHook URL, HMAC Key; Custom HMAC Header left empty',
  notes:
    'Post with field names or API-friendly keys; numbered fields are not understood. The shared secret (`HandshakeKey`) is never stored.',
  follows: [
    'https://developers.formstack.com/docs/webhook-setup',
    'https://developers.formstack.com/reference/webhook',
  ],
  signature: bodySignature({
    header: 'X-FS-Signature',
    algorithm: 'sha256',
    encoding: 'hex',
    prefix: 'sha256=',
    secretName: 'HMAC Key',
  }),
  table: { id: ['UniqueID'], idCoversContent: true },
  prepare(event) {
    const kept = mergeMembers(event);
    delete kept['HandshakeKey'];
    return kept;
  },
  fields: (event) => membersAsFields(event),
});
