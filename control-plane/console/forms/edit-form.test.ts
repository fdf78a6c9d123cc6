import { expect, test } from 'vitest';
import { isUnsaved } from './edit-form.tsx';

test('edit form: changes count as unsaved until they are being saved, and again if saving fails', () => {
  const of = (written: string, sent: string | undefined, status: 'idle' | 'pending' | 'success' | 'error') =>
    isUnsaved({ written, saved: 'a', sent, status });
  expect(of('a', undefined, 'idle')).toBe(false);
  expect(of('b', undefined, 'idle')).toBe(true);
  expect(of('b', 'b', 'pending')).toBe(false);
  expect(of('c', 'b', 'pending')).toBe(true);
  expect(of('b', 'b', 'error')).toBe(true);
  expect(of('b', 'b', 'success')).toBe(false);
  expect(of('c', 'b', 'success')).toBe(true);
});

const sources = import.meta.glob<string>('../**/*.tsx', { query: '?raw', import: 'default', eager: true });

/**
 * Files whose forms have nothing to save: dialogs, the sign-in, the test event. `EditForm` itself asks the question.
 */
const exceptions = [
  '../design/confirm.tsx',
  '../shell/sign-in-page.tsx',
  '../sources/check-key-card.tsx',
  '../destinations/test-tab.tsx',
  './edit-form.tsx',
];

test('forms: every form asks before unsaved changes are lost, except searches and the listed exceptions', () => {
  const bare = Object.entries(sources).filter(([, text]) => /<form(?![^>]*role="search")/.test(text));
  expect(bare.map(([path]) => path).toSorted()).toEqual(exceptions.toSorted());
});
