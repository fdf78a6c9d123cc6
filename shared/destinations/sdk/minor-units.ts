/**
 * An amount in the smallest unit of its currency, as a whole number: 129.99 USD is 12999, 500 JPY
 * is 500. The number of decimals is that of ISO 4217, https://www.iso.org/iso-4217-currency-codes.html. Locale data is
 * not used, because it has the decimals of usual prices: none for HUF and IDR, whose smallest unit is a hundredth.
 */
export function minorUnits(amount: number, currency: string): number {
  return Math.round(amount * 10 ** (decimalsOf.get(currency) ?? 2));
}

/** The currencies whose decimals are not two. */
const decimalsOf: ReadonlyMap<string, number> = new Map([
  ...decimals(0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'),
  ...decimals(3, 'BHD IQD JOD KWD LYD OMR TND'),
  ...decimals(4, 'CLF UYW'),
]);

function decimals(count: number, codes: string): readonly (readonly [string, number])[] {
  return codes.split(' ').map((code) => [code, count]);
}
