/** Types of the used part of a library without its own. */
declare module 'jstat' {
  const jStat: {
    readonly normal: { inv(probability: number, mean: number, deviation: number): number };
    readonly chisquare: { cdf(value: number, degreesOfFreedom: number): number };
  };
  export default jStat;
}
