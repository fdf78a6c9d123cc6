// Runs before the page is drawn: applies the reader's choice of light or dark; without one, the system's setting holds.
const chosen = localStorage.getItem('sluice-docs-theme');
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen;
