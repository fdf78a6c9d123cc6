import { createHash, createHmac } from 'node:crypto';
import { textOf } from '../sdk/path.ts';
import { isSame } from '../sdk/signature.ts';
import type { SignatureScheme } from '../sdk/signature.ts';
import { defineSourceKind } from '../sdk/source-kind.ts';

/**
 * Signed payloads, https://docs.gethealthie.com/guides/webhooks#signed-payloads: of both headers what stands behind the `=`
 * counts. The digest of the body is signed and not the body itself, so it has to be that of what came; the page does not
 * say how it is written, so hex and base64 are taken.
 */
const signature: SignatureScheme = {
  headers: ['signature', 'content-digest'],
  label:
    '`Signature`: name=hex of HMAC-SHA256 over `post path query digest application/json length`, and `Content-Digest`: SHA-256=digest of the body',
  secretName: 'Signing secret of the webhook',
  check({ body, url, header }, secret) {
    const [received, digest] = [valueOf(header('signature')), valueOf(header('content-digest'))];
    if (received === undefined || digest === undefined) return 'missing';
    const [, path, query] = target.exec(url) ?? [];
    const signed = ['post', path, query, digest, 'application/json', body.length].join(' ');
    const isSigned = isSame(received, createHmac('sha256', secret).update(signed).digest('hex'));
    return isSigned && isDigestOf(body, digest) ? 'valid' : 'wrong';
  },
};

/** Path and query as they were written: taken apart as an address they would be put in order. */
const target = /^https:\/\/[^/]*([^?]*)\??(.*)$/;

/** `SHA-256=…` and `sig1=…`: without the padding of base64, which is not signed. */
const valueOf = (header: string): string | undefined => header.split('=', 2)[1]?.trim() || undefined;

function isDigestOf(body: Uint8Array, digest: string): boolean {
  const hash = createHash('sha256').update(body).digest();
  const plain = digest.replaceAll(':', '');
  return isSame(plain, hash.toString('hex')) || isSame(plain, hash.toString('base64').replaceAll('=', ''));
}

/**
 * Healthie: what happened to which record, and nothing of it. A record is created and deleted once; two updates of it can
 * be alike, so these have no id.
 */
export const healthie = defineSourceKind({
  type: 'Healthie',
  label: 'Healthie',
  setUp: 'Settings, Developer, Webhooks: the address and the events',
  notes:
    'The body says nothing of a person: events are anonymous unless the address names one. Updates carry no id, so one that Healthie repeats is a second event.',
  follows: [
    'https://docs.gethealthie.com/guides/webhooks',
    'https://docs.gethealthie.com/guides/webhooks/event-reference',
  ],
  signature,
  table: {
    name: ['event_type'],
    id: ({ event_type: type, resource_id: resource }) => {
      const [name, id] = [textOf(type), textOf(resource)];
      return name !== undefined && id !== undefined && /\.(?:created|deleted)$/.test(name)
        ? `${name}:${id}`
        : undefined;
    },
  },
});
