import { expect, test } from 'vitest';
import { createEventNames, standardEventOf, standardEvents } from './standard-events.ts';

const nameOf = createEventNames({
  names: { purchase: 'checkout', startCheckout: 'initiate_checkout' },
  others: ['watch_video'],
});

test.each([
  ['Order Completed', 'checkout'],
  ['order_completed', 'checkout'],
  ['orderCompleted', 'checkout'],
  ['purchase', 'checkout'],
  ['Checkout', 'checkout'],
  ['Checkout Started', 'initiate_checkout'],
  ['begin_checkout', 'initiate_checkout'],
  ['Watch Video', 'watch_video'],
  ['Product Added', undefined],
  ['Something else', undefined],
  ['', undefined],
])('event names: %s is sent as %s', (name, taken) => {
  expect(nameOf({ name, isRenamed: false })).toBe(taken);
});

test('event names: a name that is far too long is not recognised', () => {
  const name = 'checkout'.padEnd(1_000_000, ' ');
  expect(nameOf({ name, isRenamed: false })).toBeUndefined();
  expect(standardEventOf(name)).toBeUndefined();
});

test('event names: a mapped name is not translated, and counts only if it is a platform name', () => {
  expect(nameOf({ name: 'Initiate Checkout', isRenamed: true })).toBe('initiate_checkout');
  expect(nameOf({ name: 'Order Completed', isRenamed: true })).toBeUndefined();
});

test('event names: a platform’s own event name keeps the meaning that the platform gives it', () => {
  const own = createEventNames({ names: { lead: 'Lead', purchase: 'Purchase' }, others: ['SubmitForm'] });
  expect(own({ name: 'submit_form', isRenamed: false })).toBe('SubmitForm');
  expect(own({ name: 'Generate Lead', isRenamed: false })).toBe('Lead');
  expect(own({ name: 'Form Submitted', isRenamed: false })).toBeUndefined();
});

test('standard events: no name belongs to two events, and each event is found by all its names', () => {
  const names = Object.values(standardEvents).flatMap(({ label, aliases }) => [
    label.toLowerCase().replaceAll(/[^a-z0-9]/g, ''),
    ...aliases,
  ]);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  for (const [event, { label, aliases }] of Object.entries(standardEvents)) {
    for (const name of [label, ...aliases]) expect([name, standardEventOf(name)]).toEqual([name, event]);
  }
});
