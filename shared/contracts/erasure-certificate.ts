import { createPublicKey, verify } from 'node:crypto';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';

const instant = Type.String({ format: 'date-time' });
const maybe = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);

/**
 * The content of a certificate: the erased data by store, with the time, and the retained data, with the time when it
 * ends. It names no person.
 */
export const certificatePayload = Type.Object({
  version: Type.Literal(1),
  accountId: Type.String(),
  erasureId: Type.String(),
  reference: maybe(Type.String()),
  requestedBy: Type.Object({ id: Type.String(), name: Type.String() }),
  requestedAt: instant,
  erasedAt: instant,
  dueAt: maybe(instant),
  issuedAt: instant,
  isSuppressed: Type.Boolean(),
  /** Deleted immediately. */
  stores: Type.Array(Type.Object({ name: Type.String(), deleted: maybe(Type.Integer()) })),
  /**
   * Stores that still contain events of the person, and until when at the latest. The events are never sent, shown or
   * replayed.
   */
  retained: Type.Array(Type.Object({ name: Type.String(), why: Type.String(), until: maybe(instant) })),
  destinations: Type.Array(
    Type.Object({
      id: Type.String(),
      type: Type.String(),
      name: Type.String(),
      state: Type.String(),
      reason: maybe(Type.String()),
      reference: maybe(Type.String()),
      requestedAt: maybe(instant),
      doneAt: maybe(instant),
      confirmedBy: maybe(Type.String()),
    }),
  ),
});

export type CertificatePayload = Static<typeof certificatePayload>;

/** A flattened JSON Web Signature, RFC 7515, section 7.2.2: it contains the signed bytes. */
export const signedCertificate = Type.Object({
  payload: Type.String({ description: 'Base64url of the JSON that was signed.' }),
  protected: Type.String({ description: 'Base64url of the header: alg EdDSA, kid, typ.' }),
  signature: Type.String({ description: 'Base64url of the Ed25519 signature.' }),
});

export type SignedCertificate = Static<typeof signedCertificate>;

export const certificateType = 'sluice-erasure+json';

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export function signCertificate(
  payload: CertificatePayload,
  signer: { readonly kid: string; sign(bytes: Buffer): Buffer },
): SignedCertificate {
  const header = encode({ alg: 'EdDSA', kid: signer.kid, typ: certificateType });
  const body = encode(payload);
  return {
    payload: body,
    protected: header,
    signature: signer.sign(Buffer.from(`${header}.${body}`)).toString('base64url'),
  };
}

/** A certificate that cannot be read, or that none of the given keys signed. */
export class CertificateError extends Error {
  readonly code = 'certificate_invalid';
}

const checkSigned = Compile(signedCertificate);
const checkPayload = Compile(certificatePayload);
const checkHeader = Compile(
  Type.Object({ alg: Type.Literal('EdDSA'), kid: Type.String(), typ: Type.Literal(certificateType) }),
);
const checkKeys = Compile(
  Type.Object({
    keys: Type.Array(
      Type.Object({
        kty: Type.Literal('OKP'),
        crv: Type.Literal('Ed25519'),
        x: Type.String(),
        kid: Type.String(),
      }),
    ),
  }),
);

/** Verifies a certificate with a set of public keys (RFC 7517). Throws CertificateError with the reason. */
export function verifyCertificate(certificate: unknown, keySet: unknown): CertificatePayload {
  if (!checkSigned.Check(certificate))
    throw new CertificateError('the certificate must have the members payload, protected and signature');
  if (!checkKeys.Check(keySet)) throw new CertificateError('the key set has no list `keys` of Ed25519 keys');
  const header = decode(certificate.protected);
  if (!checkHeader.Check(header))
    throw new CertificateError(`its header does not describe a ${certificateType} signed with EdDSA`);
  const jwk = keySet.keys.find(({ kid }) => kid === header.kid);
  if (jwk === undefined)
    throw new CertificateError(`it was signed by the key ${header.kid}, which is not in the key set`);
  const key = createPublicKey({ key: { kty: jwk.kty, crv: jwk.crv, x: jwk.x }, format: 'jwk' });
  const signed = Buffer.from(`${certificate.protected}.${certificate.payload}`);
  if (!verify(null, signed, key, Buffer.from(certificate.signature, 'base64url'))) {
    throw new CertificateError('the signature does not fit: the certificate was changed');
  }
  const payload = decode(certificate.payload);
  if (!checkPayload.Check(payload)) throw new CertificateError('its payload does not have the format of version 1');
  return payload;
}

function decode(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch (cause) {
    throw new CertificateError('it contains no JSON', { cause });
  }
}
