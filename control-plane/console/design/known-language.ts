/**
 * A browser without a locale (`LANG=C`) reports the language `en-US@posix`, which Intl rejects; libraries that format
 * numbers on load then fail as well. The language is replaced by English. Import this before those libraries.
 */
if (!isKnown(navigator.language)) Object.defineProperty(navigator, 'language', { value: 'en', configurable: true });

function isKnown(language: string): boolean {
  try {
    return Intl.getCanonicalLocales(language).length === 1;
  } catch {
    return false;
  }
}
