import { createPrivateKey, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { readServiceAccountKey } from './google-service-account.ts';

type Bits = { readonly modulus: number; readonly privateExponent?: number; readonly publicExponent?: number };

/** A service account with an RSA key of random numbers, which OpenSSL reads without a check. */
function accountOf({ modulus, privateExponent = modulus, publicExponent = 24 }: Bits): string {
  const number = (bits: number): string => {
    const bytes = randomBytes(bits / 8);
    bytes[0] = 0x80;
    return bytes.toString('base64url');
  };
  const half = number(modulus / 2);
  const numbers = { n: number(modulus), e: number(publicExponent), d: number(privateExponent), p: half, q: half };
  const key = createPrivateKey({ format: 'jwk', key: { kty: 'RSA', ...numbers, dp: half, dq: half, qi: half } });
  const private_key = key.export({ type: 'pkcs8', format: 'pem' });
  return JSON.stringify({ client_email: 'sluice@example-project.iam.gserviceaccount.com', private_key });
}

test.each<Bits>([{ modulus: 2_048 }, { modulus: 4_096 }])('service account: a key with the bits %o is read', (bits) => {
  expect(() => readServiceAccountKey(accountOf(bits), 'serviceAccountKey')).not.toThrow();
});

// Signing blocks the thread, for seconds with the largest of these numbers.
test.each<Bits>([
  { modulus: 4_112 },
  { modulus: 16_384 },
  { modulus: 2_048, privateExponent: 1_000_000 },
  { modulus: 2_048, publicExponent: 1_000_000 },
])('service account: a key with the bits %o is refused', (bits) => {
  expect(() => readServiceAccountKey(accountOf(bits), 'serviceAccountKey')).toThrow(
    'settings.serviceAccountKey has a private_key that is larger than an RSA key of 4096 bits',
  );
});
