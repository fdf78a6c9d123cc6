import { describe, expect, it } from 'vitest';
import { camelCase, kebabCase, snakeCase, startCase } from './words.ts';

describe('words', () => {
  it.each([
    ['Order Completed', 'orderCompleted', 'order-completed', 'Order Completed'],
    ['order_completed', 'orderCompleted', 'order-completed', 'Order Completed'],
    ['--order--completed--', 'orderCompleted', 'order-completed', 'Order Completed'],
    ['HTMLParser', 'htmlParser', 'html-parser', 'HTML Parser'],
    ['fooBARBaz', 'fooBarBaz', 'foo-bar-baz', 'Foo BAR Baz'],
    ['page1view', 'page1View', 'page-1-view', 'Page 1 View'],
    ["don't stop", 'dontStop', 'dont-stop', 'Dont Stop'],
    ['École supérieure', 'écoleSupérieure', 'école-supérieure', 'École Supérieure'],
    ['東京 タワー', '東京タワー', '東京-タワー', '東京 タワー'],
    ['', '', '', ''],
    ['!?', '', '', ''],
  ])('%j: %s, %s, %s', (text, camel, kebab, start) => {
    expect(camelCase(text)).toBe(camel);
    expect(kebabCase(text)).toBe(kebab);
    expect(snakeCase(text)).toBe(kebab.replaceAll('-', '_'));
    expect(startCase(text)).toBe(start);
  });
});
