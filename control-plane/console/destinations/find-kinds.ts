/** What a kind of destination is found by. */
export type NamedKind = { readonly id: string; readonly label?: string; readonly names?: readonly string[] };

/** Names that people say and no platform uses for itself any more. */
const spoken: Readonly<Record<string, string>> = {
  Facebook: 'Meta Instagram',
  XAds: 'Twitter',
  BingAds: 'Microsoft Advertising',
  GA4MeasurementProtocol: 'Google Analytics 4 GA4',
  SnapchatAdsCapi: 'Snap',
  GoogleDataManagerEventIngest: 'Google Ads Adwords',
  SMTP: 'e-mail email',
};

/** The kinds that every word of a search is found in: their id, label, and the names that people and other tools use. */
export function findKinds<Kind extends NamedKind>(kinds: readonly Kind[], search: string): readonly Kind[] {
  const words = search.trim().split(/\s+/).map(plain);
  return kinds.filter(({ id, label = '', names = [] }) => {
    const text = plain([id, label, ...names, spoken[id] ?? ''].join(' '));
    return words.every((word) => text.includes(word));
  });
}

const plain = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
