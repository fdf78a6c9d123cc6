import { basicAuthorization } from '../../egress/basic-authorization.ts';
import type { OutboundEvent, OutboundRequest } from './destination.ts';
import { identifyingHeaders } from './http.ts';
import { matching, optionalSecret, optionalText, SettingError } from './settings.ts';

/** User name and password for a server with a protocol other than HTTP. */
export function loginSettings({ label = 'User name', example }: LoginLabels = {}) {
  return {
    username: optionalText(
      { label, ...(example === undefined ? {} : { example: example.username }) },
      matching(/^[^:\p{Cc}]{1,256}$/u, 'must be text without a colon or line break'),
    ),
    password: optionalSecret(
      { label: 'Password', ...(example === undefined ? {} : { example: example.password }) },
      matching(/^[^\p{Cc}]{1,1024}$/u, 'must be one line'),
    ),
  };
}

type LoginLabels = {
  readonly label?: string;
  /** The login in the kind's example settings; undefined if the example has none. */
  readonly example?: { readonly username: string; readonly password: string };
};

type ServerCall = {
  readonly url: string;
  readonly login: { readonly username: string | undefined; readonly password: string | undefined };
  readonly body: unknown;
  readonly events: readonly OutboundEvent[];
};

/** A request to a server with another protocol: see `shared/egress/protocols/protocol.ts`. */
export function serverRequest({ url, login, body, events }: ServerCall): OutboundRequest {
  const { username = '', password } = login;
  return {
    method: 'POST',
    url,
    headers: {
      ...identifyingHeaders(events),
      ...(password === undefined ? {} : { authorization: basicAuthorization(username, password) }),
    },
    body: JSON.stringify(body),
  };
}

/** A user name requires a password. Throws SettingError. */
export function checkLogin({ username, password }: ServerCall['login']): void {
  if (username !== undefined && password === undefined)
    throw new SettingError('password', 'is required with a user name');
}
