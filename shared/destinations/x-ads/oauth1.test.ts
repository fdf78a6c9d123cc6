import { expect, test } from 'vitest';
import { oauth1Header } from './oauth1.ts';

const credentials = {
  consumerKey: 'xvz1evFS4wEEPTGEFPHBog',
  consumerSecret: 'kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw',
  accessToken: '370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb',
  accessTokenSecret: 'LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE',
};
const request = { method: 'POST', credentials, nonceOf: 'one', nowMs: 1_318_622_958_000 };

// npm's oauth-1.0a 2.2.6 computes this signature for the same nonce and time.
test('signature: equals that of another implementation, even for characters that encodeURIComponent leaves unencoded', () => {
  const url = "https://api.example.com/1.1/statuses/update.json?include_entities=true&status=Hello%20Ladies!%20'(*)";
  const header = oauth1Header({ ...request, url });
  expect(header).toMatch(/^OAuth oauth_consumer_key="xvz1evFS4wEEPTGEFPHBog", oauth_nonce="[0-9a-f]{32}", /);
  expect(header).toContain('oauth_timestamp="1318622958"');
  expect(header).toContain('oauth_signature="Niv%2BZxECJEdYPZbmbaEkgBY%2FNwY%3D"');
});

test('nonce: is the same for the same attempt, and different for any other attempt', () => {
  const nonceOf = (changes: object) =>
    /oauth_nonce="(\w+)"/.exec(oauth1Header({ ...request, url: 'https://api.example.com/', ...changes }))?.[1];
  expect(nonceOf({})).toBe(nonceOf({}));
  expect(nonceOf({ nonceOf: 'two' })).not.toBe(nonceOf({}));
  expect(nonceOf({ nowMs: request.nowMs + 1 })).not.toBe(nonceOf({}));
});
