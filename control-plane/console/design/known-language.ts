/**
 * A browser without a locale of its own (`LANG=C`) calls its language `en-US@posix`, which Intl refuses, and with it every
 * library that asks for numbers in it as it is loaded. Such a one is English. Imported before those libraries.
 */
if (!isKnown(navigator.language)) Object.defineProperty(navigator, 'language', { value: 'en', configurable: true });

function isKnown(language: string): boolean {
  try {
    return Intl.getCanonicalLocales(language).length === 1;
  } catch {
    return false;
  }
}
