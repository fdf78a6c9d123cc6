import { SecretError, signingSecretContext } from '../../shared/contracts/config/secrets.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';
import type { Logger } from '../../shared/runtime/logger.ts';

/** Opens the signing secret of a source; undefined if this gateway cannot. */
export type OpenSecret = (sealed: string, accountId: string, sourceId: string) => string | undefined;

/** `box` has SOURCE_SECRETS_KEY; without it no secret can be opened. Each failure is logged once per configuration. */
export function createSecretOpener(box: SecretBox | undefined, logger: Logger): OpenSecret {
  return (sealed, accountId, sourceId) => {
    try {
      if (box !== undefined) return box.open(sealed, signingSecretContext(accountId, sourceId));
    } catch (error) {
      if (!(error instanceof SecretError)) throw error;
    }
    logger.error(
      { accountId, sourceId, hasKey: box !== undefined },
      'the signing secret of a source does not open with SOURCE_SECRETS_KEY: its requests get 503',
    );
    return undefined;
  };
}
