// Runs before the page is drawn: the reader's choice of light or dark, without which the system's holds.
const chosen = localStorage.getItem('sluice-docs-theme');
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen;
