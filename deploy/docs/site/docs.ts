import { addCopyButtons } from './copy-buttons.ts';
import { addSearch } from './search.ts';
import { addTryForms } from './try-forms.ts';

const root = document.documentElement;

const menu = document.querySelector('.menu');
menu?.addEventListener('click', () => {
  const isOpen = document.body.classList.toggle('menu-open');
  menu.setAttribute('aria-expanded', String(isOpen));
});

document.querySelector('.theme')?.addEventListener('click', () => {
  const now = root.dataset['theme'] ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  root.dataset['theme'] = now === 'dark' ? 'light' : 'dark';
  localStorage.setItem('sluice-docs-theme', root.dataset['theme']);
});

// Scrolls the current page into view in a long navigation.
const current = document.querySelector<HTMLElement>('nav [aria-current]');
const navigation = document.querySelector('nav');
if (current !== null && navigation !== null) navigation.scrollTop = current.offsetTop - navigation.clientHeight / 2;

/** Address of the site's root, resolved from this page. */
const siteRoot = new URL(`${root.dataset['root'] ?? '.'}/`, location.href);
addCopyButtons();
addSearch(siteRoot);
addTryForms(siteRoot);
