import { expect, test } from 'vitest';
import { whyLeftOut } from './left-out.ts';

test('left out: the path of a feature that Sluice does not have gets an explanation, an unknown path gets none', () => {
  expect(whyLeftOut('/rest/v1/funnels')).toBe('Funnels are not part of Sluice');
  expect(whyLeftOut('/rest/v1/short-links/some-id/results?limit=1')).toMatch(/^Short links .* are not part of Sluice$/);
  expect(whyLeftOut('/rest/v1/experiments/some-id/session-replays')).toMatch(/not part of Sluice$/);
  expect(whyLeftOut('/rest/v1/consent-settings/some-id/analytics')).toMatch(
    /^Consent statistics are not part of Sluice$/,
  );
  expect(whyLeftOut('/rest/v1/tag-manager-tags/types')).toMatch(/not part of Sluice, which .*\/tagManagerTags$/);
  for (const path of ['/', '/rest/v1', '/rest/v2/funnels', '/rest/v1/toasters', '/rest/v1/experiments/some-id/toast']) {
    expect(whyLeftOut(path)).toBeUndefined();
  }
});
