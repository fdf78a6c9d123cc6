import MiniSearch from 'minisearch';
import { expect, test } from 'vitest';
import { searchIndex, sectionsOf } from './search-index.ts';
import { searchOptions } from './search-options.ts';

const html =
  '<h1>Settings</h1><p>Every setting &amp; more.</p><h2 id="gateway">Gateway <a class="anchor" href="#gateway">#</a></h2>' +
  '<table><tr id="FRAME_BYTES_MAX"><td><code>FRAME_BYTES_MAX</code></td><td>A frame is sent at this size</td></tr></table>';

test('search: a page is found by its headings and by the names of table rows, by whole words or parts of them', () => {
  const sections = sectionsOf('settings.html', 'Settings', html);
  expect(sections.map(({ id, heading }) => [id, heading])).toEqual([
    ['settings.html', ''],
    ['settings.html#gateway', 'Gateway'],
    ['settings.html#FRAME_BYTES_MAX', 'FRAME_BYTES_MAX'],
  ]);
  expect(sections[0]?.text).toBe('Settings Every setting & more.');
  const index = MiniSearch.loadJSON(searchIndex(sections), searchOptions);
  for (const asked of ['FRAME_BYTES_MAX', 'frame bytes', 'frame_by']) {
    expect(index.search(asked)[0]).toMatchObject({ id: 'settings.html#FRAME_BYTES_MAX', page: 'Settings' });
  }
  expect(index.search('nothing of this')).toEqual([]);
});
