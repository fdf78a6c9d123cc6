import MiniSearch from 'minisearch';
import { searchOptions } from '../search-options.ts';
import type { FoundSection } from '../search-options.ts';

const shownMax = 12;

/** Makes the search dialog work. The index is loaded when the dialog is first opened. */
export function addSearch(siteRoot: URL): void {
  const dialog = document.querySelector<HTMLDialogElement>('dialog.search');
  const input = dialog?.querySelector('input');
  const list = dialog?.querySelector('ol');
  if (!dialog || !input || !list) return;
  let index: Promise<MiniSearch> | undefined;
  const load = async (): Promise<MiniSearch> => {
    const answer = await fetch(new URL('search.json', siteRoot));
    if (!answer.ok) throw new Error(`loading the search index failed: status ${answer.status}`);
    return MiniSearch.loadJSONAsync(await answer.text(), searchOptions);
  };
  const open = (): void => {
    index ??= load();
    if (!dialog.open) dialog.showModal();
    input.select();
  };
  const show = async (): Promise<void> => {
    const asked = input.value;
    try {
      const found = (await (index ??= load())).search(asked);
      if (input.value !== asked) return;
      list.replaceChildren(...found.slice(0, shownMax).map((one) => itemOf(one as unknown as FoundSection, siteRoot)));
      if (found.length === 0 && asked !== '') list.append(lineOf('Nothing found.'));
    } catch (error) {
      index = undefined;
      list.replaceChildren(lineOf(error instanceof Error ? error.message : String(error)));
    }
  };
  document.querySelector('.search-button')?.addEventListener('click', open);
  input.addEventListener('input', () => void show());
  dialog.querySelector('form')?.addEventListener('submit', (submitted) => {
    // Enter opens the first result. If the button itself is pressed, the dialog closes.
    const first = list.querySelector('a');
    if (submitted.submitter !== null && submitted.submitter === document.activeElement) return;
    submitted.preventDefault();
    first?.click();
  });
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog || (target instanceof Element && target.closest('a') !== null)) dialog.close();
  });
  document.addEventListener('keydown', (pressed) => {
    const isTyping = pressed.target instanceof HTMLInputElement || pressed.target instanceof HTMLTextAreaElement;
    if ((pressed.key === '/' && !isTyping) || (pressed.key === 'k' && (pressed.ctrlKey || pressed.metaKey))) {
      pressed.preventDefault();
      open();
    }
  });
}

function itemOf({ id, page, heading }: FoundSection, siteRoot: URL): HTMLLIElement {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = new URL(id, siteRoot).href;
  const title = document.createElement('strong');
  title.textContent = heading === '' ? page : heading;
  const where = document.createElement('small');
  where.textContent = heading === '' ? '' : page;
  link.append(title, where);
  item.append(link);
  return item;
}

function lineOf(text: string): HTMLLIElement {
  const item = document.createElement('li');
  item.textContent = text;
  return item;
}
