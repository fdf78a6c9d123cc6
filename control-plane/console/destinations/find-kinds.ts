/** The names by which a kind of destination is found. */
export type NamedKind = { readonly id: string; readonly label?: string; readonly names?: readonly string[] };

/** Former names of platforms that people still use. */
const spoken: Readonly<Record<string, string>> = {
  Facebook: 'Meta Instagram',
  XAds: 'Twitter',
  BingAds: 'Microsoft Advertising',
  GA4MeasurementProtocol: 'Google Analytics 4 GA4',
  SnapchatAdsCapi: 'Snap',
  GoogleDataManagerEventIngest: 'Google Ads Adwords',
  SMTP: 'e-mail email',
};

/**
 * The kinds for which every word of `search` begins a word of the id, the label or another name. A search word may
 * continue across the next words (`googleads` finds Google Ads) but not begin inside one (`s3` does not find Ads 360).
 */
export function findKinds<Kind extends NamedKind>(kinds: readonly Kind[], search: string): readonly Kind[] {
  const words = search
    .trim()
    .split(/\s+/)
    .map((word) => wordsOf(word).join(''));
  return kinds.filter(({ id, label = '', names = [] }) => {
    const parts = wordsOf([id, label, ...names, spoken[id] ?? ''].join(' '));
    const beginnings = parts.map((_, index) => parts.slice(index).join(''));
    return words.every((word) => beginnings.some((text) => text.startsWith(word)));
  });
}

/** The words of a text, in lower case. A capital letter or a number begins a new word. */
const wordsOf = (text: string): readonly string[] =>
  text.match(/\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}]+|\p{Lu}+(?!\p{Ll})|\p{N}+/gu)?.map((word) => word.toLowerCase()) ?? [];
