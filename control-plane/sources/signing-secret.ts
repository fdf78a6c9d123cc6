import type { JsonObject } from '../../shared/runtime/json.ts';
import { isSealed, signingSecretContext } from '../../shared/contracts/config/secrets.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import { badRequest } from '../api/api-error.ts';
import { secretMask } from '../draft/mask-settings.ts';

/** Seals and opens the signing secret of one source; undefined where this control plane has no key for that. */
export type SigningSealer = { seal(plain: string): string; open(sealed: string): string } | undefined;

export function signingSealer(box: SecretBox | undefined, accountId: string, sourceId: string): SigningSealer {
  if (box === undefined) return undefined;
  const context = signingSecretContext(accountId, sourceId);
  return { seal: (plain) => box.seal(plain, context), open: (sealed) => box.open(sealed, context) };
}

/**
 * A source's body with its signing secret as it is stored; `stored` is what it was before. Throws a 400 for a mask of
 * nothing, and where there is no key to seal it with.
 */
export function sealSigningSecret(body: JsonObject, stored: unknown, sealer: SigningSealer): JsonObject {
  const { signingSecret } = body;
  if (typeof signingSecret !== 'string' || signingSecret === stored) return body;
  if (signingSecret === secretMask) {
    if (isSealed(stored)) return { ...body, signingSecret: stored };
    throw badRequest('signingSecret is the mask of a secret, but none is stored');
  }
  if (isSealed(signingSecret)) throw badRequest('signingSecret must not begin like a sealed secret');
  if (sealer === undefined) {
    throw badRequest('signingSecret cannot be stored', 'SOURCE_SECRETS_KEY of the control plane is not set');
  }
  // The same secret again must not look like a change.
  const isSame = isSealed(stored) && sealer.open(stored) === signingSecret;
  return { ...body, signingSecret: isSame ? stored : sealer.seal(signingSecret) };
}

/** A source as a client may read it. */
export function maskSigningSecret<Source extends JsonObject>(source: Source): Source {
  return isSealed(source['signingSecret']) ? { ...source, signingSecret: secretMask } : source;
}
