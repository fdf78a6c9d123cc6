/** A section of a page as a search finds it; `id` is its address from the top of the site. */
export type FoundSection = { readonly id: string; readonly page: string; readonly heading: string };

/**
 * Options of the index, which the build and the browser share. Names with `_` are found by their parts, too.
 */
export const searchOptions = {
  fields: ['page', 'heading', 'text'],
  storeFields: ['page', 'heading'],
  tokenize: (text: string): string[] => {
    const words = text.split(/[^\p{L}\p{N}_$]+/u).filter((word) => word !== '');
    return words.flatMap((word) =>
      word.includes('_') ? [word, ...word.split('_').filter((part) => part !== '')] : [word],
    );
  },
  searchOptions: { prefix: true, fuzzy: 0.1, boost: { page: 4, heading: 3 }, combineWith: 'AND' as const },
};
