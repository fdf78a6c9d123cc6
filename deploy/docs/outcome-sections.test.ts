import { expect, test } from 'vitest';
import { destinationKinds, findDestinationKind } from '../../shared/destinations/registry.ts';
import { outcomeSections, privacySection } from './outcome-sections.ts';

function pageOf(id: string): string {
  const kind = findDestinationKind(id);
  if (kind === undefined) throw new Error(`there is no ${id}`);
  return [...outcomeSections(kind), ...privacySection(kind)].join('\n\n');
}

test('destination pages: say what each event becomes, with a request for each shape', () => {
  const page = pageOf('Facebook');
  expect(page).toContain('| `Order Completed` | `Purchase` | `POST /v27.0/1234567890/events` |');
  expect(page).toContain('| `alias` | Skipped: the platform cannot join two ids | – |');
  expect(page.match(/<summary><code>Order Completed<\/code><\/summary>/g)).toHaveLength(1);
  expect(pageOf('Iterable')).toContain('| `POST /api/commerce/updateCart` |');
});

test('destination pages: say which properties of an order are not sent', () => {
  const [, missing = ''] = /### Order properties not sent\n\n(.+)/.exec(pageOf('LinkedInAdsCAPI')) ?? [];
  expect(missing).toContain('`products[].name`');
  expect(missing).not.toContain('`value`');
  expect(pageOf('HTTPDestination')).toContain('Every property of `Order Completed` above is sent.');
  expect(pageOf('AWSKinesis')).toContain('Every property of `Order Completed` above is sent.');
});

test('destination pages: say how a limited use and an erasure reach the platform', () => {
  expect(pageOf('Facebook')).toContain('`data[].data_processing_options[]: "LDU"`');
  expect(pageOf('TikTok')).toContain('limited_data_use: true');
  expect(pageOf('LinkedInAdsCAPI')).toMatch(/limited .+ is skipped\./);
  expect(pageOf('Braze')).toContain('POST https://rest.iad-01.braze.com/users/delete');
  expect(pageOf('Plausible')).toContain('An erasure needs no request: ');
});

test.each(destinationKinds.map(({ descriptor }) => descriptor.id))('destination pages: %s has every section', (id) => {
  expect(pageOf(id).match(/^## .+/gm)).toEqual(['## What each event becomes', '## Privacy']);
});
