import { createHash, createHmac } from 'node:crypto';
import { textOf } from '../sdk/path.ts';
import { isSame } from '../sdk/signature.ts';
import type { SignatureScheme } from '../sdk/signature.ts';
import { defineSourceKind } from '../sdk/source-kind.ts';

/**
 * Signed payloads, https://docs.gethealthie.com/guides/webhooks#signed-payloads. Both headers have their value after a
 * `=`. The signature covers the digest of the body, not the body itself, so the digest has to be checked against the
 * received body. The page does not specify the digest's encoding, so hex and base64 are accepted.
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

/** Extracts path and query as received, because a URL parser would normalise them. */
const target = /^https:\/\/[^/]*([^?]*)\??(.*)$/;

/** The value in `SHA-256=…` or `sig1=…`, without base64 padding, which is not signed. */
const valueOf = (header: string): string | undefined => header.split('=', 2)[1]?.trim() || undefined;

function isDigestOf(body: Uint8Array, digest: string): boolean {
  const hash = createHash('sha256').update(body).digest();
  const plain = digest.replaceAll(':', '');
  return isSame(plain, hash.toString('hex')) || isSame(plain, hash.toString('base64').replaceAll('=', ''));
}

/**
 * Healthie: the type of change and the record's id, without its content. A record is created and deleted once; two of
 * its updates can be identical, so updates have no event id.
 */
export const healthie = defineSourceKind({
  type: 'Healthie',
  label: 'Healthie',
  setUp: 'Settings, Developer, Webhooks: the address and the events',
  notes:
    'The body names no person: events are anonymous unless the address names one. Updates have no id, so an update that Healthie repeats becomes a second event.',
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
