/**
 * An amount in the smallest unit of its currency, as a whole number: 129.99 USD is 12999, 500 JPY
 * is 500. The number of decimals comes from the Unicode CLDR, which follows ISO 4217; unknown codes
 * have two.
 */
export function minorUnits(amount: number, currency: string): number {
  return Math.round(amount * 10 ** decimalsOf(currency));
}

const known = new Map<string, number>();
const knownMax = 400;

function decimalsOf(currency: string): number {
  const before = known.get(currency);
  if (before !== undefined) return before;
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  const decimals = format.resolvedOptions().maximumFractionDigits ?? 2;
  if (known.size < knownMax) known.set(currency, decimals);
  return decimals;
}
