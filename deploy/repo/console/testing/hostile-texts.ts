/** What a client may send as a name or a value, and a page has to show as text. */
export const hostile = {
  markup: `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`,
  long: 'abcdefghij'.repeat(1_000),
  rightToLeft: 'שלום \u202E gnp.exe مرحبا',
} as const;
