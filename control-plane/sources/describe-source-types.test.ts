import { expect, test } from 'vitest';
import { sourceTypes, visitorSourceTypes } from '../../shared/collections/source-types.ts';
import { sourceKinds } from '../../shared/sources/registry.ts';
import { describeSourceTypes } from './describe-source-types.ts';

const described = describeSourceTypes();

test('source types: each has its own label and a group; exactly the types that visitors send to are pages or apps', () => {
  expect(described.map(({ id }) => id).toSorted()).toEqual(sourceTypes.toSorted());
  expect(new Set(described.map(({ label }) => label)).size).toBe(sourceTypes.length);
  const ofVisitors = described.filter(({ group }) => group === 'page' || group === 'app').map(({ id }) => id);
  expect(ofVisitors.toSorted()).toEqual([...visitorSourceTypes].toSorted());
});

test('source types: every provider has its steps, and the names of its secret and token', () => {
  const providers = described.filter(({ setUp }) => setUp !== null);
  expect(providers).toHaveLength(sourceKinds.length);
  expect(described.find(({ id }) => id === 'TypeformWebhooks')).toMatchObject({
    label: 'Typeform',
    group: 'webhook',
    setUp: 'The form, Connect, Webhooks, Add a webhook: Endpoint; Secret under Edit',
    secretName: 'Secret',
    tokenName: null,
  });
  expect(described.filter(({ tokenName }) => tokenName !== null).map(({ id }) => id)).toContain('FacebookLeadAds');
});
