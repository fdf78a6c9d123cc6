// Runs before the page is drawn: applies the reader's choice of light or dark; without a choice, the system's setting
// applies.
const chosen = localStorage.getItem('sluice-docs-theme');
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen;
