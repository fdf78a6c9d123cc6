import type { OAuthGrant } from '../../egress/oauth-grant.ts';
import { exampleServiceAccount, readServiceAccountKey } from './google-service-account.ts';
import { address, optionalSecret, optionalText, readWebUrl, SettingError } from './settings.ts';
import type { SettingsOf } from './settings.ts';

const standardTokenUrl = 'https://oauth2.googleapis.com/token';

/** How a Google destination authenticates: by a service account, or by a user's refresh token. */
export function googleOAuthSettings(role: string) {
  return {
    serviceAccountKey: optionalSecret(
      {
        label: 'Service account key',
        placeholder: '{"type": "service_account", …}',
        sublabel: `The JSON key file of a service account. ${role} Alternatively, fill in the three settings below.`,
        example: exampleServiceAccount,
      },
      readServiceAccountKey,
    ),
    clientId: optionalText({ label: 'OAuth client ID', placeholder: '….apps.googleusercontent.com' }),
    clientSecret: optionalSecret({ label: 'OAuth client secret' }),
    refreshToken: optionalSecret({ label: 'Refresh token', sublabel: `Refresh token of a user. ${role}` }),
    tokenUrl: address(optionalText({ label: 'Token URL', placeholder: standardTokenUrl }, readWebUrl)),
  };
}

export type GoogleOAuthSettings = SettingsOf<ReturnType<typeof googleOAuthSettings>>;

/**
 * The grant for these settings: https://developers.google.com/identity/protocols/oauth2/service-account and
 * https://developers.google.com/identity/protocols/oauth2/web-server#offline. Throws SettingError if the settings
 * are complete for neither grant.
 */
export function googleGrant(given: GoogleOAuthSettings, scope: string): OAuthGrant {
  const { serviceAccountKey: account, clientId, clientSecret, refreshToken } = given;
  const tokenUrl = given.tokenUrl ?? standardTokenUrl;
  if (account !== undefined) {
    const { email, keyId, privateKey } = account;
    return { tokenUrl, by: { kind: 'service-account', issuer: email, keyId, privateKey }, scope };
  }
  if (clientId === undefined && clientSecret === undefined && refreshToken === undefined) {
    throw new SettingError('serviceAccountKey', 'is required, or a refresh token with its client');
  }
  if (clientId === undefined) throw new SettingError('clientId', 'is required with a refresh token');
  if (clientSecret === undefined) throw new SettingError('clientSecret', 'is required with a refresh token');
  if (refreshToken === undefined) throw new SettingError('refreshToken', 'is required with an OAuth client');
  return {
    tokenUrl,
    by: { kind: 'refresh-token', refreshToken },
    client: { id: clientId, secret: clientSecret, sentIn: 'body' },
  };
}
