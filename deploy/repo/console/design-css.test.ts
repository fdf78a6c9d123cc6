import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

test('design.css: each selector has one rule, so that no part of the console is laid out by the rule of another', async () => {
  const css = await readFile(new URL('../../../control-plane/console/design/design.css', import.meta.url), 'utf8');
  const selectors = [...css.matchAll(/^([^\s@}/][^{]*) \{/gm)].map(([, selector]) => selector);
  expect(selectors.length).toBeGreaterThan(100);
  expect(selectors.filter((selector, index) => selectors.indexOf(selector) !== index)).toEqual([]);
});
