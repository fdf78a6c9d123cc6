import { expect, test } from 'vitest';
import { createConfigSigner, newConfigSigningKey } from '../../../shared/contracts/config/signed-config.ts';
import { checkSigning } from './check-signing.ts';
import { readDoctorEnv } from './env.ts';

const key = newConfigSigningKey();
const [own, other] = [key, newConfigSigningKey()].map(
  (pem) => createConfigSigner({ CONFIG_SIGNING_KEY: pem })?.publicKey,
);

test.each([
  [{}, 'warn', /a process that can write to the log/],
  [{ CONFIG_SIGNING_KEY: key }, 'ok', /is set/],
  [{ CONFIG_PUBLIC_KEYS: own }, 'ok', /is set/],
  [{ CONFIG_SIGNING_KEY: key, CONFIG_PUBLIC_KEYS: `${other}${own}` }, 'ok', /holds the public key/],
  [{ CONFIG_SIGNING_KEY: key, CONFIG_PUBLIC_KEYS: other }, 'fail', /does not hold the public key/],
  [{ CONFIG_PUBLIC_KEYS: '-----BEGIN PUBLIC KEY-----' }, 'fail', /must be an Ed25519 key/],
])('doctor: the finding on signed configuration depends on which keys the machine has', (keys, level, detail) => {
  expect(checkSigning(readDoctorEnv({ SLUICE_DIR: '/nowhere', ...keys }))).toMatchObject([
    { level, detail: expect.stringMatching(detail) as string },
  ]);
});
