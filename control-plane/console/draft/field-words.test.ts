import { expect, test } from 'vitest';
import { fieldWords } from './field-words.ts';

test.each([
  ['settings.pixelId', 'Pixel id'],
  ['settings.accessToken', 'Access token'],
  ['settings.api_url', 'API URL'],
  ['status', 'Status'],
  ['isEnabled', 'On'],
  ['destinationId', 'Destination'],
  ['destinationIds', 'Destinations'],
  ['limitedToSourceIds', 'Sources'],
  ['mappings[total].map', 'Property total: value'],
  ['mappings[order.id]', 'Property order.id'],
  ['categories[EU only].logic', 'Rule EU only: conditions'],
  ['signals.oneTrust', 'Signals: one trust'],
  ['settings', 'Settings'],
])('words of fields: %s is “%s”', (path, words) => {
  expect(fieldWords(path)).toBe(words);
});
