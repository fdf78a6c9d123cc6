import { expect, test } from 'vitest';
import { plainMessage, readPlatformError } from './platform-error.ts';

const meta = {
  error: {
    message: 'Invalid parameter',
    type: 'OAuthException',
    code: 100,
    error_subcode: 2804050,
    error_user_title: 'Missing customer information',
    error_user_msg: 'You have not added sufficient customer information parameter data for this event.',
    fbtrace_id: 'A1b2C3d4E5f6G7',
  },
};

test.each([
  [
    'Meta: with the subcode, and the sentence for people',
    JSON.stringify(meta),
    '100/2804050',
    'Invalid parameter: You have not added sufficient customer information parameter data for this event.',
  ],
  [
    'TikTok',
    '{"code":40001,"message":"Access token is incorrect","request_id":"2026"}',
    '40001',
    'Access token is incorrect',
  ],
  ['Braze', '{"message":"Invalid API key"}', undefined, 'Invalid API key'],
  [
    'HubSpot',
    '{"status":"error","message":"Property values were not valid","category":"VALIDATION_ERROR"}',
    'VALIDATION_ERROR',
    'Property values were not valid',
  ],
  [
    'Klaviyo',
    '{"errors":[{"id":"x","status":400,"code":"invalid","title":"Invalid input.","detail":"The phone number is not valid."}]}',
    'invalid',
    'The phone number is not valid.',
  ],
  [
    'Google',
    '{"error":{"code":400,"message":"Request contains an invalid argument.","status":"INVALID_ARGUMENT"}}',
    'INVALID_ARGUMENT',
    'Request contains an invalid argument.',
  ],
  ['a list of texts', '{"errors":["email is required"]}', undefined, 'email is required'],
  [
    'AWS',
    '<ErrorResponse><Error><Code>SignatureDoesNotMatch</Code><Message>The request signature differs.</Message></Error></ErrorResponse>',
    'SignatureDoesNotMatch',
    'The request signature differs.',
  ],
  ['a proxy', '<html><head><title>502 Bad Gateway</title></head></html>', undefined, '502 Bad Gateway'],
  ['text', 'quota exceeded\nsee the manual', undefined, 'quota exceeded'],
  ['JSON that is cut', '{"error":{"code":190,"message":"The token has \\"expired', '190', 'The token has \\"expired'],
  ['nothing', '', undefined, undefined],
])('platform error: %s', (_of, body, code, message) => {
  expect(readPlatformError({ status: 400, body })).toEqual({
    status: 400,
    ...(code === undefined ? {} : { code }),
    ...(message === undefined ? {} : { message }),
  });
});

test.each([
  ['an e-mail address', 'Invalid email grace.o+1@example.com given', 'Invalid email …@… given'],
  ['a number', 'Phone 436641234567 is not valid', 'Phone # is not valid'],
  ['an id', 'Trace 9f86d081884c7d65 failed for 0190b2c5-7a4e-7c11-9f5e-1c2d3e4f5a6b', 'Trace … failed for …'],
  [
    'a quoted value',
    `Value 'Grace Hopper' of "user_data.first_name" is 'bad'`,
    `Value '…' of "user_data.first_name" is '…'`,
  ],
  ['no field', `Missing parameter 'email' or "eventName"`, `Missing parameter 'email' or "eventName"`],
])('platform error: grouping removes %s from a message', (_what, text, plain) => {
  expect(plainMessage(text)).toBe(plain);
});

test('platform error: a long message, and one that is nothing but quotes, takes bounded work', () => {
  expect(plainMessage('x '.repeat(100_000))).toHaveLength(300);
  expect(plainMessage(`'"`.repeat(100_000)).length).toBeLessThanOrEqual(300);
});
