/** Types of the functions used here; the library has none. */
declare module 'jstat' {
  const jStat: {
    readonly normal: { inv(probability: number, mean: number, deviation: number): number };
    readonly chisquare: { cdf(value: number, degreesOfFreedom: number): number };
  };
  export default jStat;
}
