/** Types of the used functions, because the library has no types. */
declare module 'jstat' {
  const jStat: {
    readonly normal: { inv(probability: number, mean: number, deviation: number): number };
    readonly chisquare: { cdf(value: number, degreesOfFreedom: number): number };
  };
  export default jStat;
}
