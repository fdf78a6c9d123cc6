import { Type } from 'typebox';
import { definePlatform, inHeader, noCredentials } from '../sdk/platform.ts';
import type { PlatformAnswers } from '../sdk/platform.ts';
import { someText } from '../sdk/platform-schemas.ts';

const error = (code: string) => ({ status: 200, body: { ok: false, error: code } });
const retryAfter = { 'retry-after': '7' };

const ofMethod: PlatformAnswers = {
  success: () => ({ status: 200, body: { ok: true, channel: 'C0123456789', ts: '1503435956.000247' } }),
  refusal: ({ field }) =>
    error(field === 'text' ? 'no_text' : field === 'channel' ? 'channel_not_found' : 'invalid_arguments'),
  throttled: { status: 429, headers: retryAfter, body: { ok: false, error: 'ratelimited' } },
  endedToken: error('invalid_auth'),
  tooLarge: error('msg_too_long'),
};

const ofWebhook: PlatformAnswers = {
  success: () => ({ status: 200, body: 'ok' }),
  refusal: ({ field }) => ({ status: 400, body: field === 'text' ? 'no_text' : 'invalid_payload' }),
  throttled: { status: 429, headers: retryAfter, body: 'rate_limited' },
  endedToken: { status: 403, body: 'invalid_token' },
};

const json = /^application\/json/;
const text = Type.String({ minLength: 1, maxLength: 40_000 });

/** Slack's method `chat.postMessage`, and an incoming webhook, whose only credential is its secret URL. */
export const slackPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/api/chat.postMessage',
      credentials: inHeader('authorization', /^Bearer xox[a-z]-\S+$/),
      headers: { 'content-type': json },
      content: 'json',
      body: Type.Object({ channel: someText, text }),
    },
    {
      method: 'POST',
      path: '/services/{team}/{service}/{secret}',
      credentials: noCredentials,
      headers: { 'content-type': json },
      content: 'json',
      body: Type.Object({ text }),
      answers: ofWebhook,
    },
  ],
  answers: ofMethod,
});
