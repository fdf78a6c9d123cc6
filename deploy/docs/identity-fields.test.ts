import { expect, test } from 'vitest';
import { findDestinationKind } from '../../shared/destinations/registry.ts';
import { identitiesOf } from './identity-fields.ts';

const identitiesOfType = (id: string) => {
  const kind = findDestinationKind(id);
  return kind === undefined ? undefined : identitiesOf(kind);
};

test('identity fields: are found in the requests of a destination kind, both as plain text and hashed', () => {
  expect(identitiesOfType('Facebook')).toEqual(
    expect.arrayContaining([
      ['E-mail address', 'data[].user_data.em[]', 'SHA-256'],
      ['IP address', 'data[].user_data.client_ip_address', 'as it is'],
    ]),
  );
  expect(identitiesOfType('Braze')).toEqual(
    expect.arrayContaining([['External id', 'events[].external_id', 'as it is']]),
  );
});
