/** Texts of one destination, event, mapping and experiment of a filled account. */
export type OddTexts = { readonly markup: string; readonly long: string; readonly rightToLeft: string };

/** Names and values that a client may send, and that a page has to show as text. */
export const hostile: OddTexts = {
  markup: `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`,
  long: 'abcdefghij'.repeat(1_000),
  rightToLeft: 'שלום \u202E gnp.exe مرحبا',
};

/** The same places with texts of an ordinary account, for pictures. */
export const ordinary: OddTexts = {
  markup: 'Newsletter tool',
  long: 'Spring campaign',
  rightToLeft: 'customer-lin',
};
