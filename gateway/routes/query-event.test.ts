import { expect, test } from 'vitest';
import { readQueryEvent } from './query-event.ts';

test.each([
  ['email={{email}}', false],
  ['userId=undefined&externalId=null', false],
  ['externalId=%20', false],
  ['', false],
  ['userId=undefined&externalId=customer-1', true],
  ['email=ann@example.com', true],
])('readQueryEvent: whether %j has an identifier: %s', (query, identified) => {
  expect(readQueryEvent(query).identified).toBe(identified);
});
