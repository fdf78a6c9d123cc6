import { describe, expect, it } from 'vitest';
import { sentEvent } from './event.ts';
import { contactIds, e164Of, hashDatum, hashPerson, knownPerson, normaliseE164 } from './person.ts';
import { sampleEvent } from './sample-event.ts';

const emailHash = '62a14e44f765419d10fea99367361a727c12365e2520f32218d505ed9aa0f62f';

describe('knownPerson', () => {
  const personOf = (visitor: object, properties = {}) => {
    const resolved = sampleEvent({ event_properties: properties });
    return knownPerson(sentEvent({ resolved: { ...resolved, visitor: { ...resolved.visitor, ...visitor } } }));
  };

  it('visitor: fills in what the event does not have', () => {
    expect(personOf({ last_name: ' Lovelace ', zip: 12345, city: '' })).toMatchObject({
      email: 'ada@example.com',
      externalId: 'customer-7',
      lastName: 'Lovelace',
      zip: '12345',
      city: undefined,
    });
  });

  it.each([
    [{ first_name: undefined, custom_properties: { name: ' Ann  Marie Lee ' } }, 'Ann', 'Marie Lee'],
    [{ first_name: 'Annie', name: 'Ann Lee' }, 'Annie', 'Lee'],
    [{ first_name: undefined, name: 'Cher' }, 'Cher', undefined],
    [{ first_name: undefined, name: { first: 'Ann' }, custom_properties: {} }, undefined, undefined],
  ])('visitor: a full name is split to fill in a missing first or last name, in %j', (visitor, firstName, lastName) => {
    expect(personOf(visitor)).toMatchObject({ firstName, lastName });
  });

  it('event: its e-mail address overrides the visitor’s; its city is not taken as the person’s city', () => {
    const person = personOf({ city: 'London' }, { email: 'other@example.com', city: 'Paris', state: 'shipped' });
    expect(person).toMatchObject({ email: 'other@example.com', city: 'London', state: undefined });
  });

  it('event: an object in its property `visitor` overrides any identifier, and null withholds an identifier', () => {
    const person = personOf(
      { city: 'London', phone_number: '+448444124653' },
      { visitor: { city: 'Paris', phone_number: null }, email: null },
    );
    expect(person).toMatchObject({ city: 'Paris', phone: undefined, email: undefined, firstName: 'Ada' });
  });
});

describe('hashPerson', () => {
  const nobody = knownPerson(
    sentEvent({ resolved: { ...sampleEvent(), visitor: { id: 'v', custom_properties: {} } } }),
  );

  // Examples published by Meta and by Snap with their parameters.
  it.each([
    ['email', ' John_Smith@gmail.com ', emailHash],
    ['phone', '(650)555-1212', 'e323ec626319ca94ee8bff2e4c87cf613be6ea19919ed1364124e16807ab3176'],
    ['phone', '+44 844 412 4653', 'dc008fda46e2e64002cf2f82a4906236282d431c4f75e5b60bfe79fc48546383'],
    ['firstName', 'John', '96d9632f363564cc3032521409cf22a852f2032eec099ed5967c0d000cec607a'],
    ['firstName', 'Raphaël', 'e74bb89e718fe1e19c422a48382870399f8bf7ca8dfa008739e75b0be76627b7'],
  ] as const)('%s: %s is hashed as published', (key, text, hash) => {
    expect(hashPerson({ ...nobody, [key]: text })[key]).toBe(hash);
  });

  it('phone: a number without a country code gets the code of the person’s country', () => {
    const hashed = (text: string) => hashDatum(text, (same) => same);
    const indian = { ...nobody, phone: '98765 43210', country: 'India' };
    expect(hashPerson(indian).phone).toBe(hashed('919876543210'));
    expect(hashDatum(indian.phone, e164Of(indian))).toBe(hashed('+919876543210'));
    const visitor = { id: 'v', custom_properties: {}, phone_number: '098765 43210', country: 'in' };
    expect(contactIds({ resolved: { ...sampleEvent(), visitor } }).phone).toBe('+919876543210');
    const nowhere = { id: 'v', custom_properties: {}, phone_number: '98765 43210' };
    expect(contactIds({ resolved: { ...sampleEvent(), visitor: nowhere } }).phone).toBeUndefined();
  });

  it('hash: a value that is already a hash is kept, in lower case', () => {
    expect(hashPerson({ ...nobody, email: emailHash.toUpperCase() }).email).toBe(emailHash);
    expect(hashDatum(emailHash, normaliseE164)).toBe(emailHash);
  });

  it('hash: an invalid identifier is not hashed', () => {
    const { email, phone, gender, country } = hashPerson({
      ...nobody,
      email: 'no address',
      phone: '12',
      gender: 'none of yours',
      country: 'Atlantis',
    });
    expect([email, phone, gender, country]).toEqual([undefined, undefined, undefined, undefined]);
  });
});
