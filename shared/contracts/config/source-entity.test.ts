import { expect, test } from 'vitest';
import { readSource } from './source-entity.ts';

test('source entity: says what was published', () => {
  const published = {
    id: 's',
    type: 'WebSource',
    status: 'Enabled',
    name: null,
    whitelistDomains: ['example.com'],
    whitelistIps: null,
    botControlMode: 'Threshold',
    botScoreThreshold: 30,
    excludeRequestContext: true,
    redirectUrl: null,
    signingSecret: null,
  };
  expect(readSource({ ...published, projectAPIKey: 'k' })).toEqual({ ...published, unreadable: new Set() });
});

test('source entity: of an earlier build, without some fields, is taken', () => {
  const source = readSource({ id: 's', type: 'NodejsApi', status: 'Enabled' });
  expect(source).toMatchObject({ id: 's', type: 'NodejsApi', status: 'Enabled', unreadable: new Set() });
  expect(source.whitelistIps).toBeUndefined();
});

test('source entity: of a newer build, with words this one does not know, is taken', () => {
  const source = readSource({ id: 's', type: 'NewSource', status: 'Enabled', botControlMode: 'Guess' });
  expect(source).toMatchObject({ type: 'NewSource', botControlMode: 'Guess', unreadable: new Set() });
});

test('source entity: fields that cannot be read are named, and the others still say what they do', () => {
  const source = readSource({ id: 's', status: 'Enabled', whitelistIps: 'text', excludeRequestContext: true, type: 7 });
  expect(source.unreadable).toEqual(new Set(['type', 'whitelistIps']));
  expect(source).toMatchObject({ status: 'Enabled', excludeRequestContext: true });
});
