import { assert, property } from 'fast-check';
import { expect, test } from 'vitest';
import { anyPage, readPage } from './page.ts';
import { anyText } from '../testing/any-text.ts';

test.each([undefined, {}, { url: null, search: null }, { url: '' }])('page: %j has no page data', (context) => {
  expect(readPage(context)).toEqual(anyPage);
});

test('page: an address is split into parts, its path decoded and its host in lower case', () => {
  const { address } = readPage({ url: 'HTTPS://Shop.Example.COM:8443/caf%C3%A9/a%2Fb?x=1#top' });
  expect(address).toEqual({ scheme: 'https', host: 'shop.example.com:8443', path: '/café/a%2Fb', query: '?x=1' });
});

test('page: a path alone is an address without scheme and host', () => {
  expect(readPage({ url: '/a/b?x=1' }).address).toEqual({ scheme: '', host: '', path: '/a/b', query: '?x=1' });
  expect(readPage({ url: '//example.com/a' }).address).toEqual({
    scheme: '',
    host: 'example.com',
    path: '/a',
    query: '',
  });
});

test('page: a path that cannot be decoded stays as it is', () => {
  expect(readPage({ url: 'https://example.com/%E0%A4%A' }).address?.path).toBe('/%E0%A4%A');
});

test('page: an invalid url has no parts', () => {
  expect(readPage({ url: 'not a url' }).address).toEqual({ scheme: '', host: '', path: '', query: '' });
});

test('page: search overrides the query of the url unless it is empty', () => {
  const url = 'https://example.com/?from=url&from=again';
  expect(readPage({ url }).parameters?.get('from')).toEqual(['url', 'again']);
  expect(readPage({ url, search: '?from=search' }).parameters?.get('from')).toEqual(['search']);
  expect(readPage({ url, search: 'from=bare+text' }).parameters?.get('from')).toEqual(['bare text']);
  expect(readPage({ url, search: '' }).parameters?.get('from')).toEqual(['url', 'again']);
});

test('page: an empty search, or a url without a query, means no parameters; if both are missing, parameters are unknown', () => {
  expect(readPage({ search: '' }).parameters?.size).toBe(0);
  expect(readPage({ url: 'https://example.com/' }).parameters?.size).toBe(0);
  expect(readPage({}).parameters).toBeUndefined();
});

test('page: any text can be read as a url or search', () => {
  assert(
    property(anyText(), anyText(), (url, search) => {
      for (const text of [url, `/${url}`, `//${url}`, `https://example.com/${url}`]) {
        expect(readPage({ url: text, search }).parameters).toBeInstanceOf(Map);
      }
    }),
  );
});
