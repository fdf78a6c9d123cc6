import type { JsonObject } from '../../shared/runtime/json.ts';
import { secretCharactersMax } from '../../shared/collections/sources.ts';
import { accessTokenContext, isSealed, signingSecretContext } from '../../shared/contracts/config/secrets.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import { defineService } from '../api/services.ts';
import { badRequest } from '../api/api-error.ts';
import { secretMask } from '../../shared/contracts/config/secrets.ts';

/** The boxes of SECRETS_KEY and SOURCE_SECRETS_KEY; a control plane may lack the second. */
export type SourceBoxes = { readonly secretBox: SecretBox; readonly sourceSecrets: SecretBox | undefined };

/** Seals the secrets that gateways open; undefined if SOURCE_SECRETS_KEY is not set. */
export const sourceSecrets = defineService<SecretBox | undefined>('source secrets');

type Sealer = { seal(plain: string): string; open(sealed: string): string };

/** Seals and opens the secrets of one source, by field; undefined for a field without a key. */
export type SourceSealers = Readonly<Record<SecretField, Sealer | undefined>>;

type SecretField = keyof typeof secretCharactersMax;

const secretFields: readonly SecretField[] = ['signingSecret', 'accessToken'];

/** Gateways open the signing secret, with SOURCE_SECRETS_KEY; the pipeline opens the token, with SECRETS_KEY. */
export function sourceSealers(
  { secretBox, sourceSecrets }: SourceBoxes,
  accountId: string,
  sourceId: string,
): SourceSealers {
  return {
    signingSecret: sealerOf(sourceSecrets, signingSecretContext(accountId, sourceId)),
    accessToken: sealerOf(secretBox, accessTokenContext(accountId, sourceId)),
  };
}

function sealerOf(box: SecretBox | undefined, context: string): Sealer | undefined {
  if (box === undefined) return undefined;
  return { seal: (plain) => box.seal(plain, context), open: (sealed) => box.open(sealed, context) };
}

/**
 * A source's body with its secrets sealed; `stored` is the previous body. Throws a 400 for a mask without a stored
 * secret, for a secret without a key to seal it, and for a secret that is too long.
 */
export function sealSourceSecrets(body: JsonObject, stored: JsonObject, sealers: SourceSealers): JsonObject {
  const sealed = secretFields.flatMap((field) => {
    const value = body[field];
    return typeof value === 'string' ? [[field, sealField(field, value, stored[field], sealers[field])] as const] : [];
  });
  return { ...body, ...Object.fromEntries(sealed) };
}

function sealField(field: SecretField, value: string, stored: unknown, sealer: Sealer | undefined): string {
  if (value === stored) return value;
  if (value === secretMask) {
    if (isSealed(stored)) return stored;
    throw badRequest(`${field} is the mask of a secret, but none is stored`);
  }
  if (isSealed(value)) throw badRequest(`${field} must not begin like a sealed secret`);
  if (sealer === undefined) {
    throw badRequest(`${field} cannot be stored`, 'SOURCE_SECRETS_KEY of the control plane is not set');
  }
  // Sealing the same secret again would give another text, which would look like a change.
  if (isSealed(stored) && sealer.open(stored) === value) return stored;
  const sealed = sealer.seal(value);
  if (sealed.length > secretCharactersMax[field]) throw badRequest(`${field} is too long to be sealed`);
  return sealed;
}

/** A source as a client may read it. */
export function maskSourceSecrets<Source extends JsonObject>(source: Source): Source {
  const masked = secretFields.flatMap((field) => (isSealed(source[field]) ? [[field, secretMask] as const] : []));
  return masked.length === 0 ? source : { ...source, ...Object.fromEntries(masked) };
}
