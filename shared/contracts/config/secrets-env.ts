import { secret } from '../../runtime/variables.ts';

/** The key of SecretBox. */
export const secretsEnv = {
  SECRETS_KEY: secret(
    'Seals and opens the secrets of destinations and source keys, and signs list cursors. The same for the control plane and the pipeline',
    { pattern: '^[A-Za-z0-9+/_-]{43}=?$', mustBe: '32 bytes in base64' },
  ),
};
