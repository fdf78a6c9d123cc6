/** Texts that one destination, event, mapping and experiment of a filled account contain. */
export type OddTexts = { readonly markup: string; readonly long: string; readonly rightToLeft: string };

/** Names and values that clients may send, which pages must show as text. */
export const hostile: OddTexts = {
  markup: `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`,
  long: 'abcdefghij'.repeat(1_000),
  rightToLeft: 'שלום \u202E gnp.exe مرحبا',
};

/** Ordinary texts for the same places, for screenshots. */
export const ordinary: OddTexts = {
  markup: 'Newsletter tool',
  long: 'Spring campaign',
  rightToLeft: 'customer-lin',
};
