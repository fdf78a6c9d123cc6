import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { Ago } from './time.tsx';

test('time: what happened after the page last read its clock is shown as now, not in the future', () => {
  const show = (at: number): string => renderToStaticMarkup(createElement(Ago, { at })).replace(/<[^>]*>/g, '');
  expect(show(Date.now() + 8_000)).toBe('just now');
  expect(show(Date.now() - 7_200_000)).toMatch(/2/);
});
