/** Variables that hold something, by name, before they are converted. */
export type GivenVariables = Readonly<Record<string, unknown>>;

/** What must hold between variables. Answers what is wrong, starting with the name of a variable, or nothing. */
export type EnvRule = (given: GivenVariables) => string | undefined;

/** Two variables of which one alone does nothing. */
export const together =
  (one: string, other: string): EnvRule =>
  (given) => {
    if ((given[one] === undefined) === (given[other] === undefined)) return undefined;
    const [present, absent] = given[one] === undefined ? [other, one] : [one, other];
    return `${absent} is missing: ${present} alone does nothing`;
  };

/** A variable that does nothing without another one. */
export const needs =
  (name: string, needed: string): EnvRule =>
  (given) =>
    given[name] !== undefined && given[needed] === undefined
      ? `${needed} is missing: ${name} does nothing without it`
      : undefined;

/** Variables that are different ways to say the same. */
export const atMostOne =
  (...names: readonly string[]): EnvRule =>
  (given) => {
    const present = names.filter((name) => given[name] !== undefined);
    return present.length > 1 ? `${present.join(' and ')} are both set: keep one` : undefined;
  };
